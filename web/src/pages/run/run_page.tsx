import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { send } from "../../api/client";
import { type Run, runQuery, toolsQuery } from "../../api/queries";
import { CrumbLink, Crumbs } from "../../parts/crumbs";
import { useNow } from "../../parts/call_card";
import { Json } from "../../parts/json";
import { Markdown } from "../../parts/markdown";
import { StateMark } from "../../parts/marks";
import { usePageTitle } from "../../parts/page_title";
import { runTitle } from "../../parts/run_words";
import { QuestionCard } from "../../parts/question_card";
import { ConnectionBanner, Failure, Problem, Skeleton } from "../../parts/states";
import { Waterfall } from "../../parts/waterfall";
import type { Sent } from "../../stream/follow";
import { readQuestion } from "../../stream/questions";
import { listSteps } from "../../stream/steps";
import { useRun } from "../../stream/use_run";
import { formatDuration, formatFull, formatWhen } from "../../words/format";
import { messages } from "../../words/messages";
import { runWords } from "../../words/runs";
import { StepPanel } from "./step_panel";

const TABS: [string, string][] = [
  ["", runWords.timeline],
  ["events", runWords.events],
  ["data", runWords.inputAndOutput],
];
const OVER = new Set(["completed", "failed", "cancelled"]);

/** One run: its steps over time, what each did, and what a person may decide. */
export function RunPage() {
  const { id = "" } = useParams({ strict: false });
  const run = useQuery(runQuery(id));
  usePageTitle(run.data ? runTitle(run.data) : runWords.run);
  if (run.error)
    return (
      <div className="page">
        <Failure
          what={runWords.runFailed}
          missing={runWords.noRun}
          error={run.error}
          retry={() => void run.refetch()}
        />
      </div>
    );
  if (!run.data)
    return (
      <div className="page">
        <Skeleton rows={6} />
      </div>
    );
  return <RunView key={id} run={run.data} />;
}

function RunView({ run }: { run: Run }) {
  const { tab = "", step = "" } = useSearch({ strict: false }) as { tab?: string; step?: string };
  const navigate = useNavigate();
  const isOver = OVER.has(run.state);
  const { picture, connection } = useRun(run.run_id, isOver);
  const { data: tools = [] } = useQuery(toolsQuery);
  const titles = useMemo(() => new Map(tools.map((tool) => [tool.name, tool.title])), [tools]);
  const now = useNow(!isOver);
  const steps = useMemo(() => listSteps(picture.steps), [picture.steps]);
  const pending = run.pending[0];
  const chosen = step || pending?.step || steps.find((item) => item.state === "failed")?.id || "";
  const shown = picture.steps.get(chosen);
  const end = run.finished_at ?? now / 1000;
  const worked = steps
    .filter((item) => !item.id.includes("/"))
    .flatMap((item) => item.bars)
    .filter((bar) => bar.state !== "waiting")
    .reduce((sum, bar) => sum + (bar.to || end) - bar.from, 0);

  return (
    <div className={shown || pending ? "runpage" : "runpage alone"}>
      <div className="runmain">
        <Crumbs label={runWords.whereThisIs} here={<span className="mono cut">{run.run_id}</span>}>
          <CrumbLink to="/runs">{messages.runs}</CrumbLink>
        </Crumbs>
        <div className="head">
          <div>
            <h1>{runTitle(run)}</h1>
            <div className="runfacts">
              <StateMark state={run.state} />
              <span>
                {messages.byWhom} <b>{run.principal}</b>
              </span>
              <span title={formatFull(run.created_at)}>{formatWhen(run.created_at)}</span>
              <span>
                {messages.took}{" "}
                <b className="num">{formatDuration((end - run.created_at) * 1000)}</b>
                {worked > 0 &&
                  worked < 0.8 * (end - run.created_at) &&
                  runWords.work(formatDuration(worked * 1000))}
              </span>
            </div>
          </div>
          {!isOver && <RunActions run={run} />}
        </div>
        <ConnectionBanner connection={connection} />
        {run.questions.map((item) => (
          <QuestionCard
            key={item.id}
            question={readQuestion(item)}
            path={`/runs/${run.run_id}/questions`}
          />
        ))}
        <nav className="tabs" aria-label={runWords.aboutRun}>
          {TABS.map(([value, word]) => (
            <Link
              key={word}
              to="/runs/$id"
              params={{ id: run.run_id }}
              search={{ tab: value || undefined, step: step || undefined }}
              activeOptions={{ exact: true }}
              aria-current={tab === value ? "page" : undefined}
            >
              {word}
            </Link>
          ))}
        </nav>
        {tab === "events" ? (
          <Events events={picture.events} />
        ) : tab === "data" ? (
          <Data run={run} />
        ) : steps.length === 0 ? (
          <Skeleton rows={4} />
        ) : (
          <Waterfall
            steps={steps}
            takeovers={picture.takeovers}
            titles={titles}
            start={run.created_at}
            end={end}
            chosen={chosen}
            onChoose={(wanted) =>
              void navigate({
                to: "/runs/$id",
                params: { id: run.run_id },
                search: { tab: tab || undefined, step: wanted },
                replace: true,
              })
            }
          />
        )}
      </div>
      {(shown || pending) && <StepPanel run={run} step={shown} titles={titles} />}
    </div>
  );
}

function RunActions({ run }: { run: Run }) {
  const client = useQueryClient();
  const act = useMutation({
    mutationFn: (action: string) => send("POST", `/runs/${run.run_id}/${action}`),
    onSettled: () => client.invalidateQueries({ queryKey: ["run", run.run_id] }),
  });
  return (
    <div className="acts">
      {run.state === "paused" ? (
        <button
          type="button"
          className="btn"
          disabled={act.isPending}
          onClick={() => act.mutate("resume")}
        >
          {runWords.resume}
        </button>
      ) : (
        <button
          type="button"
          className="btn"
          disabled={act.isPending}
          onClick={() => act.mutate("pause")}
        >
          {runWords.pause}
        </button>
      )}
      <button
        type="button"
        className="btn"
        disabled={act.isPending}
        onClick={() => act.mutate("cancel")}
      >
        {runWords.cancelRun}
      </button>
      <Problem error={act.error} />
    </div>
  );
}

const MOST_EVENTS = 150;

function Events({ events }: { events: readonly Sent[] }) {
  const shown = events.filter((event) => event.event !== "text_delta").slice(-MOST_EVENTS);
  return (
    <section className="card padded" aria-label={runWords.events}>
      {shown.length < events.length && <p className="faint">{runWords.lastEvents(shown.length)}</p>}
      <ol className="events">
        {shown.map((event) => (
          <li key={event.id}>
            <details>
              <summary>
                <span className="faint num">{formatFull(Number(event.data.at ?? 0))}</span>{" "}
                <b>{event.event}</b>{" "}
                <span className="mono faint">{String(event.data.node ?? "")}</span>{" "}
                {typeof event.data.state === "string" && <span>{event.data.state}</span>}
              </summary>
              <Json value={event.data} />
            </details>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Data({ run }: { run: Run }) {
  const output = run.output as Record<string, unknown> | null;
  const answer = typeof output?.text === "string" ? output.text : "";
  return (
    <div className="stack spaced">
      <section className="card padded">
        <h2>{runWords.input}</h2>
        <Json value={run.params} />
      </section>
      {answer && (
        <section className="card padded">
          <h2>{messages.answer}</h2>
          <Markdown text={answer} />
        </section>
      )}
      <section className="card padded">
        <h2>{run.error ? runWords.error : runWords.output}</h2>
        <Json value={run.error ?? run.output} />
      </section>
    </div>
  );
}
