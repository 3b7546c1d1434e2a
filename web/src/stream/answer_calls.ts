// The calls of an answer: each is one part, which later events change.

import type { Answer, CallPart, Part } from "./answer_parts";
import { number, text } from "./read_event";

/** A call begins; one that was approved begins again. */
export function addCall(answer: Answer, data: Record<string, unknown>, at: number): void {
  const key = callKey(data);
  const index = answer.parts.findIndex((part) => part.key === key);
  const call: CallPart = {
    kind: "call",
    key,
    turn: number(data.turn),
    step: text(data.step_id),
    tool: text(data.tool),
    arguments: data.arguments,
    state: "running",
    startedAt: at,
    durationMs: 0,
    result: "",
    errorCode: "",
    callId: "",
    account: "",
    progress: "",
    retry: null,
    approval: "",
    reason: "",
  };
  const old = answer.parts[index];
  // The call begins again once it was approved: what is known of the approval stays.
  if (old?.kind === "call")
    answer.parts[index] = { ...call, approval: old.approval, reason: old.reason };
  else answer.parts.push(call);
}

function callKey(data: Record<string, unknown>): string {
  // Agents that were called begin their turns at 1 too: `parent` tells them apart.
  return `c${text(data.step_id)}${text(data.parent)}/${number(data.turn)}-${text(data.call)}`;
}

/** What became known of a call. */
export function changeCall(
  answer: Answer,
  data: Record<string, unknown>,
  change: Partial<CallPart>,
): void {
  const key = callKey(data);
  if (!answer.parts.some((part) => part.key === key)) addCall(answer, data, number(data.at));
  answer.parts = answer.parts.map((part) =>
    part.kind === "call" && part.key === key ? { ...part, ...change } : part,
  );
}

/** The parts of an answer that has ended: a call whose end no event tells neither runs nor waits. */
export function endCalls(parts: readonly Part[]): Part[] {
  return parts.map((part) => {
    if (part.kind !== "call") return part;
    if (part.state === "waiting") return { ...part, state: "cancelled" };
    return part.state === "running" ? { ...part, state: "unknown" } : part;
  });
}
