import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { explanationQuery, peopleQuery } from "../../api/explain";
import { ApiError } from "../../api/errors";
import { hasAccount, isOperator } from "../../api/people";
import { sessionQuery } from "../../api/queries";
import { CrumbLink, Crumbs } from "../../parts/crumbs";
import { usePageTitle } from "../../parts/page_title";
import { Remedies } from "../../parts/remedies";
import { Empty, Failure, Skeleton } from "../../parts/states";
import { explaining } from "../../words/explain";
import { messages } from "../../words/messages";
import { Asker } from "./asker";
import { Decision } from "./decision_card";
import { Everybody } from "./everybody";
import { namePerson } from "../../words/people";

export interface ExplainSearch {
  tool?: string;
  who?: string;
  args?: string;
}

/** Who may call a tool, check by check; operators and administrators ask for others too. */
export function ExplainPage() {
  usePageTitle(explaining.title);
  const search = useSearch({ strict: false }) as ExplainSearch;
  const { tool = "", who = "", args = "" } = search;
  const { data: session } = useQuery(sessionQuery);
  const asksForOthers =
    hasAccount(session) &&
    (isOperator(session) || session?.scopes.some((scope) => scope.endsWith("/people:write")));
  const { data: people = [] } = useQuery({ ...peopleQuery, enabled: asksForOthers === true });
  const explained = useQuery(explanationQuery(tool, who, args));
  const others = people.filter((person) => person.handle !== session?.handle);
  const name = namePerson(others.find((person) => person.handle === who)?.name, who);
  const remedies = explained.data?.remedies ?? [];
  const hasAside = others.length > 0 || remedies.length > 0;
  return (
    <div className="page">
      <div className="wide stack">
        <Crumbs label={explaining.where} here={explaining.crumb}>
          <CrumbLink to="/tools">{messages.tools}</CrumbLink>
        </Crumbs>
        <div className="head">
          <div>
            <h1>{explaining.title}</h1>
            <p>{explaining.what}</p>
          </div>
        </div>
        <Asker key={`${tool} ${who} ${args}`} search={search} people={others} />
        {tool === "" && (
          <Empty title={explaining.chooseTool} pegs>
            {explaining.chooseToolWhy}
          </Empty>
        )}
        {explained.error && (
          <Failure
            what={explaining.failed}
            missing={isOfPerson(explained.error) ? explained.error.message : explaining.noSuchTool}
            error={explained.error}
            retry={() => void explained.refetch()}
          />
        )}
        {tool !== "" && explained.isPending && <Skeleton rows={5} />}
        {explained.data && !explained.error && (
          <div className={hasAside ? "beside" : "stack"}>
            <Decision explanation={explained.data} name={who ? name : ""} />
            {hasAside && (
              <aside className="aside">
                <Remedies steps={remedies} />
                {others.length > 0 && (
                  <Everybody search={search} people={others} you={session?.name ?? ""} />
                )}
              </aside>
            )}
          </div>
        )}
      </div>
    </div>
  );
}

/** Whether what is not there is the person, and not the tool. */
function isOfPerson(error: Error): boolean {
  return error instanceof ApiError && error.code === "account_not_found";
}
