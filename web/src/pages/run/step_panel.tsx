import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { send } from "../../api/client";
import type { Run } from "../../api/queries";
import { AccountNote } from "../../parts/account_note";
import { ApprovalCard } from "../../parts/approval_card";
import { Arguments } from "../../parts/decision";
import { Json, layOut } from "../../parts/json";
import { MarkIcon, StateMark } from "../../parts/marks";
import { SchemaForm } from "../../parts/schema_form";
import { Problem } from "../../parts/states";
import { nameOfStep } from "../../parts/waterfall";
import type { Step } from "../../stream/steps";
import { reasonOf } from "../../words/errors";
import { formatDuration, formatFull } from "../../words/format";
import { messages } from "../../words/messages";
import { runWords } from "../../words/runs";

type Pending = Run["pending"][number];

interface StepPanelProps {
  run: Run;
  step: Step | undefined;
  titles: ReadonlyMap<string, string>;
}

/** One step: what it waits for, its arguments, its result, and what happened. */
export function StepPanel({ run, step, titles }: StepPanelProps) {
  const pending =
    run.pending.find((item) => item.step === step?.id) ?? (step ? undefined : run.pending[0]);
  return (
    <aside className="panel" id="step" aria-label={runWords.step}>
      {step && (
        <div>
          <h2>{nameOfStep(step, titles.get(step.tool))}</h2>
          <p className="mono faint">{step.tool || step.id}</p>
          <StateMark state={step.state} />
          {step.reason && <p className="dim">{step.reason}</p>}
          {step.progress && <p className="dim">{step.progress}</p>}
        </div>
      )}
      {pending?.approval_id ? (
        <ApprovalCard key={pending.approval_id} id={pending.approval_id} />
      ) : pending ? (
        <Question key={pending.id} run={run} pending={pending} />
      ) : (
        step?.approval && <ApprovalCard key={step.approval} id={step.approval} />
      )}
      {step?.error && <p className="bad">{step.error}</p>}
      {step?.arguments !== undefined && !pending?.approval_id && (
        <div>
          <p className="mini">{messages.arguments}</p>
          <Arguments value={step.arguments} />
        </div>
      )}
      {step?.result && (
        <div>
          <p className="mini">{messages.result}</p>
          <Json value={layOut(step.result)} />
        </div>
      )}
      {step && <AccountNote label={step.account} />}
      {step && step.bars.length > 0 && (
        <div>
          <p className="mini">{runWords.whatHappened}</p>
          <dl className="kv">
            {step.bars.map((bar) => (
              <div className="pair" key={bar.from}>
                <dt className="num">{formatFull(bar.from).split(", ").at(-1)}</dt>
                <dd>
                  {bar.state === "waiting" ? runWords.waited : runWords.worked}
                  {bar.to > 0 && ` ${formatDuration((bar.to - bar.from) * 1000)}`}
                  {bar.error && runWords.tryEnded(reasonOf(bar.error))}
                </dd>
              </div>
            ))}
          </dl>
        </div>
      )}
    </aside>
  );
}

const OUTCOMES: Record<string, [string, string]> = {
  done: [runWords.happened, runWords.thenNext],
  retry: [runWords.notHappened, runWords.thenAgain],
  skip: [runWords.leaveOut, runWords.thenWithout],
};

/** A question that a run asks: the choices it gives, or a form for the answer. */
function Question({ run, pending }: { run: Run; pending: Pending }) {
  const client = useQueryClient();
  const [value, setValue] = useState<unknown>({});
  const answer = useMutation({
    mutationFn: (given: unknown) =>
      send("POST", `/runs/${run.run_id}/answers`, { pending_id: pending.id, answer: given }),
    onSettled: () => client.invalidateQueries({ queryKey: ["run", run.run_id] }),
  });
  const isUnknown = pending.kind === "unknown";
  const choices = pending.choices ?? [];
  const asksPerson = isUnknown || pending.kind === "person";
  if (!asksPerson) return <p className="dim">{pending.message || runWords.waitsPlain}</p>;
  return (
    <section
      className={isUnknown ? "approve unsure-card" : "approve"}
      aria-label={messages.question}
    >
      <header>
        <MarkIcon mark={isUnknown ? "unsure" : "wait"} />
        {isUnknown ? runWords.outcomeUnknown : runWords.questionForYou}
      </header>
      <div className="in-card">
        <h2>{isUnknown ? runWords.didItHappen : pending.message || runWords.whatAnswer}</h2>
        {isUnknown && (
          <p className="said-why">
            {pending.message || messages.outcomeUnknown} {runWords.noSecondCall}
          </p>
        )}
        {choices.length > 0 ? (
          <div className="opts">
            {choices.map((choice) => (
              <button
                key={choice}
                type="button"
                className="btn"
                disabled={answer.isPending}
                onClick={() => answer.mutate(choice)}
              >
                <div>
                  {OUTCOMES[choice]?.[0] ?? choice}
                  {OUTCOMES[choice] && <span>{OUTCOMES[choice][1]}</span>}
                </div>
              </button>
            ))}
          </div>
        ) : (
          <>
            <SchemaForm schema={pending.schema ?? {}} value={value} onChange={setValue} />
            <div className="acts">
              <button
                type="button"
                className="btn primary"
                disabled={answer.isPending}
                onClick={() => answer.mutate(value)}
              >
                {messages.answer}
              </button>
            </div>
          </>
        )}
        <Problem error={answer.error} />
      </div>
    </section>
  );
}
