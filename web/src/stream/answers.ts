// Answers as a fold over the events of a conversation: the same events draw the same picture,
// while they arrive and after a reload.

import type { Citation, Conflict } from "../api/knowledge";
import { addCall, changeCall, endCalls } from "./answer_calls";
import type { Answer, Answers, CallState, PlanStep } from "./answer_parts";
import type { Sent } from "./follow";
import { endQuestions, readQuestion, settleQuestion } from "./questions";
import { describeProgress, number, readRetry, text } from "./read_event";

export type * from "./answer_parts";

/** The answers after some more events; what did not change stays the same object. */
export function addEvents(answers: Answers, events: readonly Sent[]): Answers {
  const next = new Map(answers);
  const copied = new Set<string>();
  for (const sent of events) {
    const id = text(sent.data.message);
    if (!id) continue;
    let answer = next.get(id);
    if (answer === undefined || sent.event === "run_started") answer = startAnswer(id);
    else if (!copied.has(id)) answer = { ...answer, parts: [...answer.parts] };
    copied.add(id);
    next.set(id, answer);
    if (sent.event === "tools_missing") addMissing(answer, sent.data, next);
    else addEvent(answer, sent);
  }
  return next;
}

function startAnswer(message: string): Answer {
  return {
    message,
    runId: "",
    parts: [],
    state: "working",
    startedAt: 0,
    finishedAt: 0,
    inputTokens: 0,
    outputTokens: 0,
    cost: 0,
    error: null,
    plan: [],
    received: [],
    citations: [],
    conflicts: [],
    phase: "",
  };
}

function addEvent(answer: Answer, { event, data }: Sent): void {
  const at = number(data.at);
  switch (event) {
    case "run_started":
      answer.runId = text(data.run_id);
      answer.startedAt = at;
      break;
    case "phase":
      answer.phase = text(data.phase);
      break;
    case "plan":
      answer.phase = "";
      addPlan(answer, data);
      break;
    case "judgement":
      answer.phase = "";
      if (data.achieved === false && data.missing)
        addNote(answer, `Still missing: ${text(data.missing)}`);
      break;
    case "step_text":
      changeStep(answer, data, (step) => ({ ...step, text: step.text + text(data.text) }));
      break;
    case "step":
      if (data.step_id !== undefined) {
        changeStep(answer, data, (step) => ({
          ...step,
          state: text(data.state),
          reason: text(data.reason),
        }));
        break;
      }
      answer.phase = "";
      // A turn that begins again replaces what it had said.
      answer.parts = answer.parts.filter(
        (part) =>
          !(part.kind === "text" && part.turn === number(data.turn) && part.key === turnKey(data)),
      );
      break;
    case "text_delta":
      addText(answer, data);
      break;
    case "tool_started":
      addCall(answer, data, at);
      break;
    case "approval_required":
    case "credential_required":
      changeCall(answer, data, {
        state: "waiting",
        approval: text(data.approval),
        reason: text(data.reason),
      });
      break;
    case "question_required":
      answer.parts.push(readQuestion(data));
      break;
    case "question_settled":
      answer.parts = settleQuestion(answer.parts, data);
      break;
    case "tool_progress":
      changeCall(
        answer,
        data,
        data.attempt === undefined
          ? { progress: describeProgress(data) }
          : { retry: readRetry(data, at), progress: "" },
      );
      break;
    case "tool_finished":
      changeCall(answer, data, {
        state: text(data.state) as CallState,
        durationMs: number(data.duration_ms),
        result: text(data.text),
        errorCode: text(data.error_code),
        callId: text(data.call_id),
        account: text(data.account),
      });
      break;
    case "message_received":
      addNote(answer, `Meanwhile you said: ${text(data.text)}`);
      answer.received = [...answer.received, text(data.received)];
      break;
    case "compacted":
      // That a result is shown by pages is no loss: its call names the whole.
      if (data.layer !== "result") addNote(answer, "Older parts were shortened to fit the model.");
      break;
    case "citation":
      if (number(data.number) > 0)
        answer.citations = [...answer.citations, data as unknown as Citation];
      break;
    case "conflict":
      answer.conflicts = [...answer.conflicts, data as unknown as Conflict];
      break;
    case "usage":
      answer.inputTokens += number(data.input_tokens);
      answer.outputTokens += number(data.output_tokens);
      answer.cost += number(data.cost);
      break;
    case "error":
      answer.error = {
        message: text(data.detail),
        code: text(data.code),
        errorId: text(data.error_id),
      };
      break;
    case "message_withdrawn":
      answer.state = "withdrawn";
      break;
    case "done":
      answer.parts = endCalls(endQuestions(answer.parts));
      answer.state = text(data.state) as Answer["state"];
      answer.finishedAt = at;
      break;
  }
}

function addNote(answer: Answer, said: string, detail?: string): void {
  const key = `n${answer.parts.length}`;
  answer.parts.push({ kind: "note", key, text: said, ...(detail ? { detail } : {}) });
}

/** What stages of the search say, which are no tools. */
const STAGES = new Set(["search", "selection"]);

/** Says which tools and sources are missing, and unfolds why; once in a conversation. */
function addMissing(answer: Answer, data: Record<string, unknown>, answers: Answers): void {
  const said = new Set<string>();
  for (const { parts } of [...answers.values(), answer])
    for (const part of parts)
      if (part.kind === "note")
        for (const line of [part.text, ...lines(part.detail)]) said.add(line);
  const missing = Object.entries((data.missing ?? {}) as Record<string, unknown>);
  for (const [name, reason] of missing)
    if (STAGES.has(name) && !said.has(text(reason))) addNote(answer, text(reason));
  const added = missing.filter(
    ([name, reason]) => !STAGES.has(name) && !said.has(`${name}: ${text(reason)}`),
  );
  if (added.length > 0)
    addNote(
      answer,
      `Not available: ${added.map(([name]) => name).join(", ")}`,
      added.map(([name, reason]) => `${name}: ${text(reason)}`).join("\n"),
    );
}

const lines = (detail: string | undefined) => (detail ?? "").split("\n");

/** A plan of a further round is drawn behind the steps that are done. */
function addPlan(answer: Answer, data: Record<string, unknown>): void {
  const steps = Array.isArray(data.steps) ? (data.steps as Record<string, unknown>[]) : [];
  const made = steps.map((step) => ({
    id: text(step.id),
    title: text(step.title),
    needs: Array.isArray(step.dependencies) ? step.dependencies.map(text) : [],
    state: "pending",
    reason: "",
    text: "",
  }));
  const ids = new Set(made.map((step) => step.id));
  answer.plan = [...answer.plan.filter((step) => !ids.has(step.id)), ...made];
}

function changeStep(
  answer: Answer,
  data: Record<string, unknown>,
  change: (step: PlanStep) => PlanStep,
): void {
  answer.plan = answer.plan.map((step) => (step.id === data.step_id ? change(step) : step));
}

function turnKey(data: Record<string, unknown>): string {
  return `t${text(data.step_id)}${number(data.turn)}`;
}

function addText(answer: Answer, data: Record<string, unknown>): void {
  const key = turnKey(data);
  const index = answer.parts.findIndex((part) => part.key === key);
  const old = answer.parts[index];
  if (old?.kind === "text") {
    answer.parts[index] = { ...old, text: old.text + text(data.text) };
  } else {
    answer.parts.push({ kind: "text", key, turn: number(data.turn), text: text(data.text) });
  }
}
