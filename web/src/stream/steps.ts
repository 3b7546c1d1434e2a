// The steps of a run as a fold over its events.

import type { Sent } from "./follow";
import { describeProgress, readRetry } from "./read_event";

export interface Bar {
  /** Unix seconds. */
  from: number;
  /** Unix seconds; 0 while it goes on. */
  to: number;
  state: string;
  /** The code of the error of a try that another one follows. */
  error?: string;
}

export interface Step {
  id: string;
  tool: string;
  title: string;
  state: string;
  bars: Bar[];
  attempts: number;
  /** What its tool said last of its progress. */
  progress: string;
  arguments: unknown;
  result: string;
  reason: string;
  error: string;
  approval: string;
  callId: string;
  /** The account of a caller that its call acted with, as records name it; empty for none. */
  account: string;
}

/** Another server process continued the run. */
export interface Takeover {
  /** Unix seconds. */
  at: number;
  cause: string;
}

export interface RunPicture {
  steps: ReadonlyMap<string, Step>;
  takeovers: readonly Takeover[];
  events: Sent[];
}

export const EMPTY_RUN: RunPicture = { steps: new Map(), takeovers: [], events: [] };

/** The picture of a run after some more events. */
export function addRunEvents(before: RunPicture, events: readonly Sent[]): RunPicture {
  const steps = new Map(before.steps);
  let takeovers = before.takeovers;
  for (const { event, data } of events) {
    const at = Number(data.at ?? 0);
    if (event === "run_taken_over")
      takeovers = [...takeovers, { at, cause: String(data.cause ?? "") }];
    const id = String(data.node ?? "");
    if (!id) continue;
    if (event === "plan" && Array.isArray(data.steps)) {
      for (const step of data.steps as Record<string, unknown>[]) {
        const path = `${id}/round${data.round}/${step.id}`;
        steps.set(path, {
          ...(steps.get(path) ?? startStep(path)),
          title: String(step.title ?? ""),
        });
      }
      continue;
    }
    const old = steps.get(id) ?? startStep(id);
    if (event === "node_changed") steps.set(id, changeStep(old, data, at));
    else if (event === "tool_started")
      steps.set(id, { ...old, tool: String(data.tool ?? old.tool), arguments: data.arguments });
    else if (event === "tool_progress") steps.set(id, addProgress(old, data, at));
    else if (event === "tool_finished")
      steps.set(id, {
        ...old,
        result: String(data.text ?? ""),
        callId: String(data.call_id ?? ""),
        account: String(data.account ?? ""),
      });
    else if (["approval_required", "credential_required"].includes(event))
      steps.set(id, { ...old, approval: String(data.approval ?? "") });
  }
  return { steps, takeovers, events: [...before.events, ...events] };
}

/** Steps as rows: each below the one that it is a part of, in the order in which they began. */
export function listSteps(steps: ReadonlyMap<string, Step>): Step[] {
  const ids = [...steps.keys()];
  const place = new Map(ids.map((id, index) => [id, index]));
  const pathOf = (id: string): number[] => {
    const parts = id.split("/");
    return parts.map((_, depth) => place.get(parts.slice(0, depth + 1).join("/")) ?? -1);
  };
  const paths = new Map(ids.map((id) => [id, pathOf(id)]));
  return [...steps.values()]
    .filter((step) => step.bars.length > 0 || step.state !== "completed")
    .sort((a, b) => comparePaths(paths.get(a.id) ?? [], paths.get(b.id) ?? []));
}

function comparePaths(a: readonly number[], b: readonly number[]): number {
  for (let depth = 0; depth < Math.min(a.length, b.length); depth++) {
    const order = (a[depth] ?? 0) - (b[depth] ?? 0);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** How deep a step lies in others, for the indent of its row. */
export function depthOf(step: Step): number {
  return step.id.split("/").filter((part) => !/^round\d+$/.test(part)).length - 1;
}

/** A try that failed ends its bar, and the next one begins another; or what the tool says. */
function addProgress(old: Step, data: Record<string, unknown>, at: number): Step {
  if (data.attempt === undefined) return { ...old, progress: describeProgress(data) };
  const { attempt, errorCode: error, at: from } = readRetry(data, at);
  const bars = closeBars(old.bars, at).map((bar, index) =>
    old.bars[index]?.to === 0 ? { ...bar, state: "failed", error } : bar,
  );
  return {
    ...old,
    bars: [...bars, { from, to: 0, state: "in_progress" }],
    attempts: attempt,
    progress: "",
  };
}

function startStep(id: string): Step {
  return {
    id,
    tool: "",
    title: "",
    state: "pending",
    bars: [],
    attempts: 0,
    progress: "",
    arguments: undefined,
    result: "",
    reason: "",
    error: "",
    approval: "",
    callId: "",
    account: "",
  };
}

const OPEN = new Set(["in_progress", "waiting", "unknown", "paused"]);

/** Ends the open bar; a try that was to begin later never began, and has none. */
function closeBars(bars: readonly Bar[], at: number): Bar[] {
  return bars
    .filter((bar) => bar.to !== 0 || bar.from <= at)
    .map((bar) => (bar.to === 0 ? { ...bar, to: at } : bar));
}

function changeStep(old: Step, data: Record<string, unknown>, at: number): Step {
  const state = String(data.state ?? old.state);
  const bars = closeBars(old.bars, at);
  if (OPEN.has(state)) bars.push({ from: at, to: 0, state });
  const last = bars.at(-1);
  if (last && !OPEN.has(state) && old.bars[bars.length - 1]?.to === 0)
    bars[bars.length - 1] = { ...last, state: last.state === "waiting" ? "waiting" : state };
  const error = data.error as Record<string, unknown> | undefined;
  return {
    ...old,
    state,
    bars,
    tool: String(data.tool ?? old.tool),
    attempts: Number(data.attempts ?? old.attempts),
    reason: String(data.reason ?? ""),
    error: error ? String(error.message ?? error.code ?? "") : old.error,
  };
}

export interface Scale {
  /** The place of a time, in percent of the width. */
  place: (at: number) => number;
  /** Waits that are drawn short: their place, and how long they were. */
  folds: { at: number; width: number; seconds: number }[];
}

const FOLDED_FROM = 10;
const FOLD_SHARE = 9;

/** Where times stand on the axis; waits of over ten seconds in which nothing ran are folded. */
export function makeScale(
  steps: readonly Step[],
  start: number,
  end: number,
  isFolding: boolean,
): Scale {
  const busy = steps
    .flatMap((step) => step.bars)
    .filter((bar) => bar.state !== "waiting" && bar.state !== "paused" && bar.state !== "unknown")
    .map((bar) => [bar.from, Math.min(bar.to || end, end)] as const)
    .filter(([from]) => from <= end)
    // An agent works as long as its calls wait: only steps without parts of their own count.
    .filter(([from, to]) => to - from < 0.9 * (end - start) || end - start < FOLDED_FROM)
    .sort((a, b) => a[0] - b[0]);
  const gaps: [number, number][] = [];
  let reached = start;
  for (const [from, to] of [...busy, [end, end] as const]) {
    if (isFolding && from - reached > FOLDED_FROM && busy.length > 0) gaps.push([reached, from]);
    reached = Math.max(reached, to);
  }
  const folded = gaps.reduce((sum, [from, to]) => sum + to - from, 0);
  const real = Math.max(0.001, end - start - folded);
  const share = Math.max(40, 100 - gaps.length * FOLD_SHARE);
  const each = gaps.length > 0 ? (100 - share) / gaps.length : 0;
  const place = (time: number): number => {
    const at = Math.min(Math.max(time, start), end);
    let seconds = at - start;
    let extra = 0;
    for (const [from, to] of gaps) {
      if (at <= from) break;
      const inside = Math.min(at, to) - from;
      seconds -= inside;
      extra += (each * inside) / (to - from);
    }
    return (share * seconds) / real + extra;
  };
  return {
    place,
    folds: gaps.map(([from, to]) => ({ at: place(from), width: each, seconds: to - from })),
  };
}
