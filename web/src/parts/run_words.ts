import type { Run } from "../api/queries";
import { formatCount } from "../words/format";
import { messages } from "../words/messages";
import { runWords } from "../words/runs";

/** What a run is about: the message of a chat, or the name of its graph. */
export function runTitle(run: Run): string {
  if (run.title) return run.title;
  const message = run.params.message ?? run.params.task ?? run.params.goal;
  if (typeof message === "string" && message) return message;
  return run.graph || run.run_id;
}

/** Why a run stands where it stands, in one line. */
export function runReason(run: Run): string {
  const pending = run.pending[0];
  if (pending) {
    if (pending.kind === "unknown") return runWords.waitsForUnknown;
    if (pending.kind === "approval") return runWords.waitsForApproval;
    return pending.message || runWords.waits;
  }
  if (run.error) return String(run.error.message ?? run.error.code ?? runWords.failedSomehow);
  const steps = run.nodes.filter((node) => node.state !== "skipped");
  const done = steps.filter((node) => node.state === "completed").length;
  if (run.finished_at !== null) return formatCount(steps.length, "step");
  return steps.length > 1
    ? runWords.stepsOf(done, formatCount(steps.length, "step"))
    : messages.working;
}
