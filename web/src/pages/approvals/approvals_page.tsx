import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { ChevronLeft } from "lucide-react";
import {
  type Approval,
  approvalQuery,
  approvalsQuery,
  explainQuery,
  toolsQuery,
} from "../../api/queries";
import { ApprovalCard, Arguments, questionOf } from "../../parts/approval_card";
import { Checks } from "../../parts/checks";
import { type Mark, MarkIcon } from "../../parts/marks";
import { usePageTitle } from "../../parts/page_title";
import { Failure, Skeleton } from "../../parts/states";
import { formatWhen } from "../../words/format";

/** What waits for a decision, what was decided, and one of them. */
export function ApprovalsPage() {
  const { id = "" } = useParams({ strict: false });
  const { show = "" } = useSearch({ strict: false }) as { show?: string };
  usePageTitle("Approvals");
  const all = useQuery(approvalsQuery(""));
  const waiting = (all.data ?? []).filter((item) => item.state === "pending");
  const decided = (all.data ?? []).filter((item) => item.state !== "pending");
  const shown = show === "decided" ? decided : waiting;
  const chosen = id || shown[0]?.id || "";
  return (
    <div className="split" data-open={id !== "" || undefined}>
      <section className="list" aria-label="Approvals">
        <div className="top">
          <div className="line">
            <h1>Approvals</h1>
          </div>
          <nav className="seg" aria-label="Which approvals">
            <Link
              to="/approvals"
              search={{}}
              aria-current={show !== "decided" ? "page" : undefined}
            >
              Waiting {waiting.length > 0 ? waiting.length : ""}
            </Link>
            <Link
              to="/approvals"
              search={{ show: "decided" }}
              aria-current={show === "decided" ? "page" : undefined}
            >
              Decided
            </Link>
          </nav>
        </div>
        {all.isPending && <Skeleton />}
        {all.error && (
          <Failure
            what="The approvals could not be loaded"
            error={all.error}
            retry={() => void all.refetch()}
          />
        )}
        {all.isSuccess && shown.length === 0 && (
          <p className="dim quiet-row">
            {show === "decided"
              ? "Nothing was decided yet."
              : "Nothing waits. A call that the policy asks about appears here."}
          </p>
        )}
        <div className="items">
          {shown.map((item) => (
            <Item key={item.id} item={item} show={show} isChosen={item.id === chosen} />
          ))}
        </div>
      </section>
      {chosen ? (
        <Detail id={chosen} show={show} />
      ) : (
        <section className="detail" aria-label="Question" />
      )}
    </div>
  );
}

const MARKS: Record<string, Mark> = { approved: "ok", used: "ok", edited: "ok", pending: "wait" };

function Item({ item, show, isChosen }: { item: Approval; show: string; isChosen: boolean }) {
  const { data: tools = [] } = useQuery(toolsQuery);
  const mark: Mark = MARKS[item.state] ?? "off";
  const title = tools.find((tool) => tool.name === item.tool)?.title ?? "";
  return (
    <Link
      className="item with-tile"
      to="/approvals/$id"
      params={{ id: item.id }}
      search={{ show: show || undefined }}
      aria-current={isChosen ? "true" : undefined}
    >
      <span className={`tile ${mark === "off" ? "" : mark}`}>
        <MarkIcon mark={mark} />
      </span>
      <b className="cut">{questionOf(item.tool, title, item.arguments).replace(/\?$/, "")}</b>
      <span className="faint cut">
        {item.state === "pending"
          ? item.principal
          : `${item.state}${item.decided_by ? ` by ${item.decided_by}` : ""}`}
      </span>
      <span className="side-tag faint num">{formatWhen(item.decided_at || item.created_at)}</span>
    </Link>
  );
}

function Detail({ id, show }: { id: string; show: string }) {
  const approval = useQuery(approvalQuery(id));
  const item = approval.data;
  const explain = useQuery({ ...explainQuery(item?.tool ?? ""), enabled: item !== undefined });
  const conversation = item?.conversation;
  return (
    <section className="detail" aria-label="Question">
      <div className="in-col narrow">
        <Link className="back" to="/approvals" search={{ show: show || undefined }}>
          <ChevronLeft className="i" aria-hidden="true" /> Approvals
        </Link>
        {approval.error && (
          <Failure
            what="The approval could not be loaded"
            missing="There is no such approval"
            error={approval.error}
          />
        )}
        {item && (
          <>
            <p className="desc">
              <b>{item.principal}</b> wants to call <code>{item.tool}</code>.
            </p>
            <ApprovalCard key={id} id={id} heading="h1" />
            {item.state !== "pending" && (
              <section className="card padded">
                <h2>What it sends</h2>
                <Arguments value={item.edited ?? item.arguments} />
              </section>
            )}
            {explain.data && (
              <section className="card">
                <header>
                  <h2>Why you are asked</h2>
                </header>
                <Checks checks={explain.data.checks} />
              </section>
            )}
            {item.run_id && (
              <section className="card">
                <header>
                  <h2>Where it comes from</h2>
                </header>
                <ul className="rows">
                  {conversation && (
                    <li className="go">
                      <Link to="/chat/$id" params={{ id: conversation }}>
                        <div className="t">
                          <b>{item.conversation_title || "Open the chat"}</b>
                          <span>The chat that asks</span>
                        </div>
                      </Link>
                    </li>
                  )}
                  <li className="go">
                    <Link
                      to="/runs/$id"
                      params={{ id: item.run_id }}
                      search={{ step: item.node_id }}
                    >
                      <div className="t">
                        <b>Open the run</b>
                        <span className="cut mono">{item.run_id}</span>
                      </div>
                    </Link>
                  </li>
                </ul>
              </section>
            )}
          </>
        )}
      </div>
    </section>
  );
}
