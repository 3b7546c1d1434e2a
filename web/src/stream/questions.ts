// Questions of tools, as a fold over events.

import type { Part, QuestionPart } from "./answer_parts";
import { number, text } from "./read_event";

type Data = Record<string, unknown>;

/** A question of a tool, from its event or from a run that is read. */
export function readQuestion(data: Data): QuestionPart {
  const id = text(data.question ?? data.id);
  return {
    kind: "question",
    key: `q${id}`,
    id,
    step: text(data.step_id),
    tool: text(data.tool),
    source: text(data.source),
    sourceKind: text(data.source_kind),
    text: text(data.text),
    schema: isObject(data.schema) ? data.schema : null,
    url: text(data.url),
    expiresAt: number(data.expires_at),
    state: "open",
    content: null,
  };
}

/** The parts with a question that is settled; the first end of a question stays. */
export function settleQuestion(parts: readonly Part[], data: Data): Part[] {
  return parts.map((part) =>
    part.kind === "question" && part.id === data.question && part.state === "open"
      ? {
          ...part,
          state: text(data.state) as QuestionPart["state"],
          content: isObject(data.content) ? data.content : null,
        }
      : part,
  );
}

/** The parts of an answer that has ended: no call waits for what is still open. */
export function endQuestions(parts: readonly Part[]): Part[] {
  return parts.map((part) =>
    part.kind === "question" && part.state === "open" ? { ...part, state: "lost" } : part,
  );
}

function isObject(value: unknown): value is Data {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
