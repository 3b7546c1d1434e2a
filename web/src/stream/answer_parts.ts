// What an answer consists of.

import type { Citation, Conflict } from "../api/knowledge";

export type CallState =
  | "running"
  | "waiting"
  | "completed"
  | "failed"
  | "denied"
  | "cancelled"
  | "unknown";

export interface CallPart {
  kind: "call";
  key: string;
  turn: number;
  /** The step of the plan that made it; empty for a call of the answer itself. */
  step: string;
  tool: string;
  arguments: unknown;
  state: CallState;
  /** Unix seconds. */
  startedAt: number;
  durationMs: number;
  result: string;
  errorCode: string;
  callId: string;
  /** The account of a caller that it acted with, as records name it; empty for none. */
  account: string;
  progress: string;
  /** The try that runs or comes next, after one that failed; null at the first. */
  retry: Retry | null;
  approval: string;
  reason: string;
}

export interface Retry {
  attempt: number;
  most: number;
  errorCode: string;
  /** When it begins, in Unix seconds. */
  at: number;
}

export interface TextPart {
  kind: "text";
  key: string;
  turn: number;
  text: string;
}

export interface NotePart {
  kind: "note";
  key: string;
  text: string;
  /** What unfolds below it, if there is more to say. */
  detail?: string;
}

/** What a tool asks a person; its text is foreign. */
export interface QuestionPart {
  kind: "question";
  key: string;
  id: string;
  step: string;
  tool: string;
  /** The name of the tool's source; empty for a function of the board. */
  source: string;
  sourceKind: string;
  text: string;
  /** A flat object; null where a page is opened. */
  schema: Record<string, unknown> | null;
  url: string;
  /** Unix seconds. */
  expiresAt: number;
  state: "open" | "accepted" | "declined" | "cancelled" | "expired" | "lost";
  /** What was answered, without secrets; null for nothing. */
  content: Record<string, unknown> | null;
}

export type Part = CallPart | TextPart | NotePart | QuestionPart;

export interface Answer {
  message: string;
  runId: string;
  parts: Part[];
  state: "working" | "completed" | "failed" | "cancelled" | "withdrawn" | "steered";
  startedAt: number;
  finishedAt: number;
  inputTokens: number;
  outputTokens: number;
  cost: number;
  error: { message: string; code: string; errorId: string } | null;
  plan: PlanStep[];
  /** The messages that the agent has read while it worked. */
  received: string[];
  /** Quotes that were checked, as they come; the exchange has them once it is over. */
  citations: Citation[];
  conflicts: Conflict[];
  /** What the engine does between calls: `route`, `plan`, `judge` or `complete`; empty for none of these. */
  phase: string;
}

export interface PlanStep {
  id: string;
  title: string;
  needs: string[];
  state: string;
  reason: string;
  /** What the agent of the step has said. */
  text: string;
}

export type Answers = ReadonlyMap<string, Answer>;
