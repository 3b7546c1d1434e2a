import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Check, Pencil, ShieldCheck } from "lucide-react";
import { type KeyboardEvent, useId, useRef, useState } from "react";
import { send } from "../api/client";
import { ApiError } from "../api/errors";
import { type Approval, approvalQuery, toolQuery } from "../api/queries";
import { formatDuration, spellOrder, titleOf } from "../words/format";
import { messages } from "../words/messages";
import { AccountNote } from "./account_note";
import { ConnectionCard } from "./connection_card";
import { Arguments, DecidedLine } from "./decision";
import { MarkIcon } from "./marks";
import { Origins } from "./origins";
import { SchemaForm } from "./schema_form";
import { Problem } from "./states";
import { nameCaller } from "../words/approvals";

type Decision = "approve" | "deny" | "edit";
type Scope = "once" | "arguments" | "tool";

const SCOPES: Record<Scope, string> = {
  once: messages.thisOnce,
  arguments: messages.theseArguments,
  tool: messages.thisTool,
};
const ALLOWS: Record<Scope, string> = {
  once: messages.allowsOnce,
  arguments: messages.allowsArguments,
  tool: messages.allowsTool,
};

/** The question of an approval as a title: "Refund: invoice 98, amount 3.96?" */
export function questionOf(tool: string, title: string, args: unknown): string {
  const entries =
    args && typeof args === "object" && !Array.isArray(args) ? Object.entries(args) : [];
  const short = entries
    .filter(([, value]) => ["string", "number", "boolean"].includes(typeof value))
    .map(([key, value]) => [key, String(value)] as const)
    .filter(([, value]) => value.trim() !== "" && value.length <= 24)
    .slice(0, 3)
    .map(([key, value]) => spellOrder(`${key.replaceAll("_", " ")} ${value}`));
  const name = titleOf(tool, title);
  return short.length > 0 ? `${name}: ${short.join(", ")}?` : `${name}?`;
}

/** One question: what would be called with which arguments, why it is asked, and the answers. */
export function ApprovalCard({
  id,
  heading: Heading = "h2",
}: {
  id: string;
  heading?: "h1" | "h2";
}) {
  const { data: approval, error } = useQuery(approvalQuery(id));
  if (error) return <Problem error={error} />;
  if (!approval)
    return <section className="approve" aria-label={messages.approval} aria-busy="true" />;
  if (approval.state === "pending" && approval.kind === "connection")
    return <ConnectionCard approval={approval} heading={Heading} />;
  return approval.state === "pending" ? (
    <OpenQuestion approval={approval} heading={Heading} />
  ) : (
    <DecidedLine approval={approval} />
  );
}

function OpenQuestion({
  approval,
  heading: Heading,
}: {
  approval: Approval;
  heading: "h1" | "h2";
}) {
  const { data: tool } = useQuery(toolQuery(approval.tool));
  const [isEdited, setEdited] = useState(false);
  const [draft, setDraft] = useState<Record<string, unknown>>({});
  const [note, setNote] = useState("");
  const [scope, setScope] = useState<Scope>("once");
  const approveRef = useRef<HTMLButtonElement>(null);
  const noteId = useId();
  const decide = useDecision(approval.id);
  const before = (approval.arguments ?? {}) as Record<string, unknown>;
  const changed = Object.keys({ ...before, ...draft }).filter(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(draft[key]),
  );

  const answer = (decision: Decision) =>
    decide.mutate({
      decision,
      ...(note ? { note } : {}),
      ...(decision === "approve" && scope !== "once" ? { scope } : {}),
      ...(decision === "edit" ? { arguments: draft } : {}),
    });
  const startEdit = () => {
    setDraft(structuredClone(before));
    setEdited(true);
  };
  const onKey = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    if (target.matches("input, textarea, select") || event.ctrlKey || event.metaKey) return;
    if (event.key === "a") approveRef.current?.focus();
    else if (event.key === "d" && !isEdited) answer("deny");
    else if (event.key === "e" && !isEdited) startEdit();
    else return;
    event.preventDefault();
  };

  return (
    <section
      className="approve"
      aria-label={messages.approval}
      onKeyDown={onKey}
      data-approval={approval.id}
    >
      <header>
        <MarkIcon mark="wait" />
        {isEdited ? messages.approveWithOthers : messages.needsApproval}
        {approval.expires_at > 0 && (
          <span className="time">
            {messages.expiresIn(formatDuration(approval.expires_at * 1000 - Date.now()))}
          </span>
        )}
      </header>
      <div className="in-card">
        <Heading>{questionOf(approval.tool, tool?.title ?? "", approval.arguments)}</Heading>
        {isEdited && tool ? (
          <SchemaForm
            schema={tool.input_schema}
            value={draft}
            onChange={(value) => setDraft(value as Record<string, unknown>)}
            problems={decide.error instanceof ApiError ? decide.error.problems : []}
          />
        ) : (
          <Arguments value={before} />
        )}
        <Origins approval={approval} />
        <AccountNote
          label={approval.credential ?? ""}
          caller={{
            id: approval.principal,
            name: nameCaller(approval),
          }}
        />
        <div className="field">
          <label htmlFor={noteId}>
            {messages.note} <span className="faint">{messages.noteHint}</span>
          </label>
          <input
            id={noteId}
            className="in"
            value={note}
            onChange={(event) => setNote(event.target.value)}
          />
        </div>
        <p className="note">
          <ShieldCheck className="i s" aria-hidden="true" />
          <span>
            {capitalise(approval.reason ?? "")}. {ALLOWS[isEdited ? "once" : scope]}
          </span>
        </p>
        <Problem error={decide.error} />
        <div className="acts">
          {isEdited ? (
            <>
              <button
                type="button"
                className="btn primary"
                disabled={decide.isPending || changed.length === 0}
                onClick={() => answer("edit")}
              >
                {changed.length === 1 && isShort(draft[changed[0] as string])
                  ? messages.approveWith(String(draft[changed[0] as string]))
                  : messages.approveWithThese}
              </button>
              <button type="button" className="btn quiet" onClick={() => setEdited(false)}>
                {messages.back}
              </button>
            </>
          ) : (
            <>
              <button
                type="button"
                ref={approveRef}
                className="btn primary"
                disabled={decide.isPending}
                onClick={() => answer("approve")}
              >
                <Check className="i s" aria-hidden="true" /> {messages.approve}
              </button>
              <button
                type="button"
                className="btn"
                disabled={decide.isPending || !tool}
                onClick={startEdit}
              >
                <Pencil className="i s" aria-hidden="true" /> {messages.edit}
              </button>
              <button
                type="button"
                className="btn quiet"
                disabled={decide.isPending}
                onClick={() => answer("deny")}
              >
                {messages.deny}
              </button>
              {(approval.scopes ?? []).length > 1 && (
                <select
                  className="pick scope"
                  aria-label={messages.whatApprovingAllows}
                  value={scope}
                  onChange={(event) => setScope(event.target.value as Scope)}
                >
                  {(approval.scopes as Scope[]).map((offered) => (
                    <option key={offered} value={offered}>
                      {SCOPES[offered]}
                    </option>
                  ))}
                </select>
              )}
            </>
          )}
        </div>
      </div>
    </section>
  );
}

/** Decide an approval; what was decided elsewhere meanwhile is fetched and shown. */
function useDecision(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Record<string, unknown>) => send<Approval>("POST", `/approvals/${id}`, body),
    onSettled: () => {
      // A decision may cover others that wait, and stand for the rest of a conversation.
      void client.invalidateQueries({ queryKey: ["approval"] });
      void client.invalidateQueries({ queryKey: ["conversation"] });
      void client.invalidateQueries({ queryKey: ["approvals"] });
      void client.invalidateQueries({ queryKey: ["runs"] });
    },
  });
}

function isShort(value: unknown): boolean {
  return ["string", "number"].includes(typeof value) && String(value).length <= 20;
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
