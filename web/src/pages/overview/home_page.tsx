import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schema } from "../../api/client";
import { type Overview, overviewQuery, toolsQuery } from "../../api/queries";
import { questionOf } from "../../parts/approval_card";
import { classOf, type Mark, MarkIcon, markOf } from "../../parts/marks";
import { usePageTitle } from "../../parts/page_title";
import { PegBoard } from "../../parts/pegs";
import { Failure, Skeleton } from "../../parts/states";
import { boardWords } from "../../words/board";
import { formatCount, formatDuration, formatWhen } from "../../words/format";
import { messages } from "../../words/messages";
import { StartComposer } from "../chat/start_composer";
import { FirstSteps } from "./first_steps";
import { LastDay } from "./last_day";

/** What needs a person, what was worked on lately, and the board at a glance. */
export function HomePage() {
  usePageTitle(messages.home);
  const overview = useQuery(overviewQuery);
  return (
    <div className="page">
      <div className="wide">
        <section className="hero">
          <h1>{messages.ask}</h1>
          <StartComposer draftKey="home" examples={overview.data?.examples} />
        </section>
        {overview.isPending && <Skeleton rows={5} />}
        {overview.error && (
          <Failure
            what={boardWords.overviewFailed}
            error={overview.error}
            retry={() => void overview.refetch()}
          />
        )}
        {overview.data && <Cards overview={overview.data} />}
      </div>
    </div>
  );
}

function Cards({ overview }: { overview: Overview }) {
  return (
    <>
      {overview.problem && (
        <div className="banner bad spaced" role="alert">
          <MarkIcon mark="bad" />
          <span>
            {boardWords.changeRefused} {overview.problem}
          </span>
        </div>
      )}
      <div className="two">
        <div className="stack">
          {overview.latest.length === 0 && <FirstSteps overview={overview} />}
          <NeedsYou needs={overview.needs_you} />
          <LatestWork runs={overview.latest} />
        </div>
        <div className="stack">
          <section className="card">
            <header>
              <h2>{boardWords.theBoard}</h2>
              <Link className="more" to="/tools">
                {formatCount(overview.tools, "tool")}
              </Link>
            </header>
            <PegBoard rows={overview.board} />
          </section>
          <LastDay day={overview.day} />
        </div>
      </div>
    </>
  );
}

function NeedsYou({ needs }: { needs: Overview["needs_you"] }) {
  const hidden = needs.count - needs.items.length;
  return (
    <section className="card">
      <header>
        <h2>{messages.needsYou}</h2>
        {needs.count > 0 && <span className="tag wait num">{needs.count}</span>}
      </header>
      {needs.items.length === 0 ? (
        <p className="dim quiet-row">{boardWords.nothingNeeded}</p>
      ) : (
        <ul className="rows">
          {needs.items.map((need) => (
            <Need key={keyOf(need)} need={need} />
          ))}
          {hidden > 0 && (
            <li className="go">
              <Link to="/approvals">{boardWords.showAll(needs.count)}</Link>
            </li>
          )}
        </ul>
      )}
    </section>
  );
}

type AnyNeed = Overview["needs_you"]["items"][number];

function keyOf(need: AnyNeed): string {
  if (need.kind === "approval") return need.approval.id;
  return "run" in need ? need.pending_id : `${need.kind} ${need.source}`;
}

function Need({ need }: { need: AnyNeed }) {
  switch (need.kind) {
    case "approval":
      return <ApprovalNeed approval={need.approval} />;
    case "person":
    case "unknown":
      return (
        <NeedRow
          mark={
            need.run.state === "failed" ? "bad" : need.run.state === "unknown" ? "unsure" : "wait"
          }
          title={need.run.title}
          reason={need.message || boardWords.waitsForAnswer}
          action={
            <Link className="btn sm" to="/runs/$id" params={{ id: need.run.run_id }}>
              {messages.answer}
            </Link>
          }
        />
      );
    case "held":
      return (
        <NeedRow
          mark="unsure"
          title={boardWords.changedDefinitions(need.source, formatCount(need.count, "definition"))}
          reason={boardWords.definitionHeld}
          action={
            <Link className="btn sm" to="/sources">
              {boardWords.open}
            </Link>
          }
        />
      );
    case "source":
      return (
        <NeedRow
          mark="bad"
          title={boardWords.doesNotAnswer(need.source)}
          reason={need.message || boardWords.toolsUnavailable}
          action={
            <Link className="btn sm" to="/sources/$name" params={{ name: need.source }}>
              {boardWords.open}
            </Link>
          }
        />
      );
  }
}

function ApprovalNeed({ approval }: { approval: Schema<"ApprovalAnswer"> }) {
  const { data: tools = [] } = useQuery(toolsQuery);
  const title = tools.find((tool) => tool.name === approval.tool)?.title ?? "";
  const place = approval.conversation_title ? boardWords.inChat(approval.conversation_title) : "";
  return (
    <NeedRow
      mark="wait"
      title={questionOf(approval.tool, title, approval.arguments)}
      reason={boardWords.asksIn(approval.principal, place, formatWhen(approval.created_at))}
      action={
        <Link className="btn sm" to="/approvals/$id" params={{ id: approval.id }}>
          {boardWords.review}
        </Link>
      }
    />
  );
}

interface NeedRowProps {
  mark: Mark;
  title: string;
  reason: string;
  action: React.ReactNode;
}

function NeedRow({ mark, title, reason, action }: NeedRowProps) {
  return (
    <li>
      <span className={`tile ${mark}`}>
        <MarkIcon mark={mark} />
      </span>
      <div className="t need">
        <b>{title}</b>
        <span className="clamp">{reason}</span>
      </div>
      {action}
    </li>
  );
}

function LatestWork({ runs }: { runs: Overview["latest"] }) {
  return (
    <section className="card">
      <header>
        <h2>{boardWords.latestWork}</h2>
        <Link className="more" to="/runs">
          {boardWords.allRuns}
        </Link>
      </header>
      {runs.length === 0 && <p className="dim quiet-row">{boardWords.noRuns}</p>}
      <ul className="rows">
        {runs.map((run) => {
          const [mark, word] = markOf(run.state);
          const row = (
            <>
              <span className={classOf(mark)}>
                <MarkIcon mark={mark} />
              </span>
              <div className="t">
                <b className="cut">{run.title}</b>
                <span className="cut">
                  {run.reason || word}
                  {run.steps > 1 && ` · ${run.steps_done} of ${formatCount(run.steps, "step")}`}
                  {run.finished_at !== null && ` · ${formatDuration(run.duration_ms)}`}
                </span>
              </div>
              <span className="faint num when">{formatWhen(run.created_at)}</span>
            </>
          );
          return (
            <li className="go" key={run.run_id}>
              {run.conversation ? (
                <Link to="/chat/$id" params={{ id: run.conversation }}>
                  {row}
                </Link>
              ) : (
                <Link to="/runs/$id" params={{ id: run.run_id }}>
                  {row}
                </Link>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
