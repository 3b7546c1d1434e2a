import { useMemo } from "react";
import type { PlanStep } from "../stream/answers";
import { classOf, MarkIcon, markOf } from "./marks";

/** The steps of a goal: what runs together stands in one column. */
export function Plan({ steps, message }: { steps: readonly PlanStep[]; message: string }) {
  const lanes = useMemo(() => layOutLanes(steps), [steps]);
  const done = steps.filter((step) => step.state === "completed").length;
  return (
    <section className="plan" aria-label="Plan">
      <header>
        <b>Plan</b>
        <span className="faint">
          {done} of {steps.length} done
        </span>
        <span className="time">Steps in one column run together</span>
      </header>
      <div className="lanes" data-lanes={Math.min(lanes.length, 4)}>
        {lanes.map((lane, index) => (
          <ol className="lane" key={lane[0]?.id} data-l={nameOf(index, lanes.length, lane.length)}>
            {lane.map((step) => {
              const [mark, word] = markOf(step.state);
              return (
                <li key={step.id} className={`step is-${mark}`}>
                  <span className={classOf(mark)}>
                    <MarkIcon mark={mark} />
                  </span>
                  <b className="cut">
                    <a href={`#${anchorOf(message, step.id)}`}>{step.title}</a>
                  </b>
                  <small className="cut">{step.reason || word}</small>
                </li>
              );
            })}
          </ol>
        ))}
      </div>
    </section>
  );
}

function nameOf(index: number, count: number, size: number): string {
  const place = index === 0 ? "First" : index === count - 1 ? "Last" : "Then";
  return size > 1 ? `${place}, together` : place;
}

/** Where the calls of a step stand on the page. */
export function anchorOf(message: string, step: string): string {
  return `step-${message}-${step}`;
}

/** Steps by how many others they wait for in a row; what cannot be placed stands last. */
export function layOutLanes(steps: readonly PlanStep[]): PlanStep[][] {
  const depth = new Map<string, number>();
  const known = new Set(steps.map((step) => step.id));
  for (let round = 0; round <= steps.length; round++)
    for (const step of steps) {
      const needs = step.needs.filter((need) => known.has(need));
      if (needs.every((need) => depth.has(need)))
        depth.set(step.id, Math.max(0, ...needs.map((need) => (depth.get(need) ?? 0) + 1)));
    }
  const lanes: PlanStep[][] = [];
  for (const step of steps) {
    const at = Math.min(depth.get(step.id) ?? steps.length, steps.length);
    lanes[at] = [...(lanes[at] ?? []), step];
  }
  return lanes.filter((lane) => lane !== undefined);
}
