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
import { ApprovalCard, questionOf } from "../../parts/approval_card";
import { AccountNote } from "../../parts/account_note";
import { Checks } from "../../parts/checks";
import { Arguments } from "../../parts/decision";
import { type Mark, MarkIcon } from "../../parts/marks";
import { Origins } from "../../parts/origins";
import { usePageTitle } from "../../parts/page_title";
import { Empty, Failure, Skeleton } from "../../parts/states";
import { formatWhen } from "../../words/format";
import { messages } from "../../words/messages";
import { nameCaller, nameDecider } from "../../words/approvals";

/** What waits for a decision, what was decided, and one of them. */
export function ApprovalsPage() {
  const { id = "" } = useParams({ strict: false });
  const { show = "" } = useSearch({ strict: false }) as { show?: string };
  usePageTitle(messages.approvals);
  const all = useQuery(approvalsQuery(""));
  const waiting = (all.data ?? []).filter((item) => item.state === "pending");
  const decided = (all.data ?? []).filter((item) => item.state !== "pending");
  const shown = show === "decided" ? decided : waiting;
  const chosen = id || shown[0]?.id || "";
  return (
    <div className="split" data-open={id !== "" || undefined}>
      <section className="list" aria-label={messages.approvals}>
        <div className="top">
          <div className="line">
            <h1>{messages.approvals}</h1>
          </div>
          <nav className="seg" aria-label={messages.whichApprovals}>
            <Link
              to="/approvals"
              search={{}}
              activeOptions={{ exact: true }}
              aria-current={show !== "decided" ? "page" : undefined}
            >
              {messages.waiting} {waiting.length > 0 ? waiting.length : ""}
            </Link>
            <Link
              to="/approvals"
              search={{ show: "decided" }}
              activeOptions={{ exact: true }}
              aria-current={show === "decided" ? "page" : undefined}
            >
              {messages.decided}
            </Link>
          </nav>
        </div>
        {all.isPending && <Skeleton />}
        {all.error && (
          <Failure
            what={messages.approvalsFailed}
            error={all.error}
            retry={() => void all.refetch()}
          />
        )}
        {all.isSuccess && shown.length === 0 && (
          <div className="quiet-row only-narrow">
            <Nothing show={show} />
          </div>
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
        <section className="detail" aria-label={messages.question}>
          <div className="in-col">{all.isSuccess && <Nothing show={show} />}</div>
        </section>
      )}
    </div>
  );
}

function Nothing({ show }: { show: string }) {
  return show === "decided" ? (
    <Empty title={messages.nothingDecided} pegs>
      {messages.nothingDecidedWhy}
    </Empty>
  ) : (
    <Empty title={messages.nothingWaits} pegs>
      {messages.nothingWaitsWhy}
    </Empty>
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
      activeOptions={{ exact: true }}
      aria-current={isChosen ? "true" : undefined}
    >
      <span className={`tile ${mark === "off" ? "" : mark}`}>
        <MarkIcon mark={mark} />
      </span>
      <b className="cut">{questionOf(item.tool, title, item.arguments).replace(/\?$/, "")}</b>
      <span className="faint cut">
        {item.state === "pending"
          ? nameCaller(item)
          : `${item.state}${item.decided_by ? messages.by(nameDecider(item)) : ""}`}
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
    <section className="detail" aria-label={messages.question}>
      <div className="in-col narrow">
        <Link className="back" to="/approvals" search={{ show: show || undefined }}>
          <ChevronLeft className="i" aria-hidden="true" /> {messages.approvals}
        </Link>
        {approval.error && (
          <Failure
            what={messages.approvalFailed}
            missing={messages.noApproval}
            error={approval.error}
          />
        )}
        {item && (
          <>
            <p className="desc">
              <b>{nameCaller(item)}</b> {messages.wantsToCall} <code>{item.tool}</code>.
            </p>
            <ApprovalCard key={id} id={id} heading="h1" />
            {item.state !== "pending" && (
              <section className="card padded">
                <h2>{messages.whatItSends}</h2>
                <Arguments value={item.edited ?? item.arguments} />
                <Origins approval={item} />
                <AccountNote
                  label={item.credential ?? ""}
                  caller={{ id: item.principal, name: nameCaller(item) }}
                />
              </section>
            )}
            {explain.data && (
              <section className="card">
                <header>
                  <h2>{messages.whyAsked}</h2>
                </header>
                <Checks checks={explain.data.checks} />
              </section>
            )}
            {item.run_id && (
              <section className="card">
                <header>
                  <h2>{messages.whereFrom}</h2>
                </header>
                <ul className="rows">
                  {conversation && (
                    <li className="go">
                      <Link to="/chat/$id" params={{ id: conversation }}>
                        <div className="t">
                          <b>{item.conversation_title || messages.openChat}</b>
                          <span>{messages.chatThatAsks}</span>
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
                        <b>{messages.openRun}</b>
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
