import {
  Ban,
  Check,
  CircleCheck,
  CircleDashed,
  CircleHelp,
  CirclePause,
  CircleX,
  Hand,
  LoaderCircle,
  X,
} from "lucide-react";

export type Mark = "ok" | "wait" | "bad" | "unsure" | "run" | "off" | "next" | "pause";

const ICONS = {
  ok: CircleCheck,
  wait: Hand,
  bad: CircleX,
  unsure: CircleHelp,
  run: LoaderCircle,
  off: Ban,
  next: CircleDashed,
  pause: CirclePause,
};

const WORDS: Record<string, [Mark, string]> = {
  completed: ["ok", "Done"],
  done: ["ok", "Done"],
  failed: ["bad", "Failed"],
  invalid: ["bad", "Invalid"],
  unavailable: ["bad", "Unavailable"],
  denied: ["off", "Denied"],
  cancelled: ["off", "Cancelled"],
  skipped: ["off", "Left out"],
  waiting: ["wait", "Waits for you"],
  approval_needed: ["wait", "Waits for you"],
  paused: ["pause", "Paused"],
  unknown: ["unsure", "Outcome unknown"],
  running: ["run", "Running"],
  working: ["run", "Working"],
  in_progress: ["run", "Running"],
  pending: ["next", "Next"],
  ready: ["next", "Next"],
  queued: ["next", "Waits for its turn"],
};

/** The mark and the word of a state of a call, a step or a run. */
export function markOf(state: string): [Mark, string] {
  return WORDS[state] ?? ["next", state];
}

/** The icon of a state; beside it or behind it stands its word. */
export function MarkIcon({
  mark,
  small = false,
  plain = false,
}: {
  mark: Mark;
  small?: boolean;
  plain?: boolean;
}) {
  const Icon = plain && mark === "ok" ? Check : plain && mark === "bad" ? X : ICONS[mark];
  const names = ["i", small ? "s" : "", mark === "run" ? "spin" : ""].filter(Boolean).join(" ");
  return <Icon className={names} aria-hidden="true" />;
}

export function classOf(mark: Mark): string {
  return mark === "next" || mark === "pause" ? "faint" : mark;
}

/** Icon and word of a state. */
export function StateMark({ state, word }: { state: string; word?: string }) {
  const [mark, own] = markOf(state);
  return (
    <span className={`state ${classOf(mark)}`}>
      <MarkIcon mark={mark} small /> {word ?? own}
    </span>
  );
}
