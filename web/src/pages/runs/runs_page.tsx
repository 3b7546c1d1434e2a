import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type Run, runsQuery } from "../../api/queries";
import { classOf, MarkIcon, markOf } from "../../parts/marks";
import { usePageTitle } from "../../parts/page_title";
import { runReason, runTitle } from "../../parts/run_words";
import { Empty, Failure, Skeleton } from "../../parts/states";
import { Table } from "../../parts/table";
import { formatDuration, formatFull, formatWhen } from "../../words/format";
import { messages } from "../../words/messages";
import { runWords } from "../../words/runs";

const FILTERS: [string, string][] = [
  ["", messages.all],
  ["waiting", messages.needsYou],
  ["in_progress", runWords.running],
  ["failed", messages.failed],
];

/** All runs, the newest first. */
export function RunsPage() {
  usePageTitle(messages.runs);
  const { state = "" } = useSearch({ strict: false }) as { state?: string };
  const navigate = useNavigate();
  const runs = useInfiniteQuery(runsQuery(state));
  const found = runs.data?.pages.flatMap((page) => page.runs) ?? [];
  return (
    <div className="page">
      <div className="wide">
        <div className="head">
          <div>
            <h1>{messages.runs}</h1>
            <p>{runWords.whatRunsAre}</p>
          </div>
        </div>
        <div className="filters spaced">
          {FILTERS.map(([value, name]) => (
            <button
              key={name}
              type="button"
              className="chip"
              aria-pressed={state === value}
              onClick={() => void navigate({ to: "/runs", search: { state: value || undefined } })}
            >
              {name}
            </button>
          ))}
        </div>
        {runs.isPending && <Skeleton rows={5} />}
        {runs.error && (
          <Failure
            what={runWords.runsFailed}
            error={runs.error}
            retry={() => void runs.refetch()}
          />
        )}
        {runs.isSuccess && found.length === 0 && (
          <Empty
            title={state ? runWords.noSuchRuns : runWords.noRunsYet}
            pegs={!state}
            actions={
              <Link to="/chat" className="btn primary">
                {runWords.startChat}
              </Link>
            }
          >
            {runWords.howToRun}
          </Empty>
        )}
        {found.length > 0 && (
          <section className="card clip">
            <Table
              caption={messages.runs}
              columns={[
                runWords.run,
                runWords.steps,
                runWords.startedBy,
                runWords.started,
                { name: messages.took, className: "r" },
              ]}
            >
              {found.map((run) => (
                <RunRow key={run.run_id} run={run} />
              ))}
            </Table>
          </section>
        )}
        {runs.hasNextPage && (
          <button type="button" className="btn spaced" onClick={() => void runs.fetchNextPage()}>
            {messages.showOlder}
          </button>
        )}
      </div>
    </div>
  );
}

const STRIP: Record<string, string> = { ok: "d", run: "r", wait: "w", unsure: "u", bad: "f" };
const MOST = 24;

function RunRow({ run }: { run: Run }) {
  const [mark] = markOf(run.state);
  const steps = run.nodes.slice(0, MOST);
  const done = run.nodes.filter((node) => node.state === "completed").length;
  return (
    <tr>
      <td className="main-cell">
        <div className="named">
          <span className={classOf(mark)}>
            <MarkIcon mark={mark} />
          </span>
          <div>
            <b className="cut">
              <Link className="row-link" to="/runs/$id" params={{ id: run.run_id }}>
                {runTitle(run)}
              </Link>
            </b>
            <small className={["wait", "bad", "unsure"].includes(mark) ? mark : undefined}>
              {runReason(run)}
            </small>
          </div>
        </div>
      </td>
      <td className="opt">
        <span className="prog" aria-hidden="true">
          {steps.map((node) => (
            <i key={node.id} className={STRIP[markOf(node.state)[0]]} />
          ))}
        </span>
        <span className="sr">{runWords.doneOf(done, run.nodes.length)}</span>
      </td>
      <td className="opt dim">{run.principal}</td>
      <td className="opt dim num" title={formatFull(run.created_at)}>
        {formatWhen(run.created_at)}
      </td>
      <td className="r dim">{run.finished_at === null ? "" : formatDuration(run.duration_ms)}</td>
    </tr>
  );
}
