import type { AuditRecord } from "../../api/audit";
import { auditWords } from "../../words/audit";
import { spellOrder, titleOf } from "../../words/format";

export interface ReadRecord {
  body: Record<string, unknown>;
  /** What was done: "Joined", "Turned off", "Completed". */
  did: string;
  /** To what: a tool, a source, a person. */
  subject: string;
  /** The id of who did it; empty for the board itself. */
  by: string;
}

/** What a record says; a body that was tampered with says nothing. */
export function readRecord(record: AuditRecord): ReadRecord {
  let body: Record<string, unknown> = {};
  try {
    const parsed: unknown = JSON.parse(record.body);
    if (parsed && typeof parsed === "object" && !Array.isArray(parsed))
      body = parsed as Record<string, unknown>;
  } catch {
    // The page says what the chain says of it.
  }
  const text = (...names: string[]) =>
    names.map((name) => body[name]).find((value) => typeof value === "string" && value !== "") as
      | string
      | undefined;
  const done = text("action", "state", "status", "decision") ?? "";
  return {
    body,
    did: auditWords.outcomes[done] ?? titleOf(done || record.kind),
    subject: spellOrder(text("tool", "source", "subject") ?? ""),
    by: text("by", "decided_by", "principal") ?? "",
  };
}
