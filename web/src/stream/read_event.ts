// Values of events, which may be of another version of the server.

import type { Retry } from "./answer_parts";

export function text(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

export function number(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

/** The next try of a call, of a `tool_progress` that has an `attempt`. */
export function readRetry(data: Record<string, unknown>, at: number): Retry {
  return {
    attempt: number(data.attempt),
    most: number(data.max_attempts),
    errorCode: text(data.error_code),
    at: at + number(data.delay),
  };
}

/** "Second shelf, 2 of 3"; what the tool did not say is left out. */
export function describeProgress(data: Record<string, unknown>): string {
  const share = data.total === undefined ? "" : `${number(data.done)} of ${number(data.total)}`;
  return [text(data.text), share].filter(Boolean).join(", ");
}
