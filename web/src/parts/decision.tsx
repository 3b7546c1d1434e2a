import type { Approval } from "../api/queries";
import { formatClock, spellOrder } from "../words/format";
import { messages } from "../words/messages";
import { Json } from "./json";
import { MarkIcon } from "./marks";
import { nameDecider } from "../words/approvals";

/** Arguments as a table of names and values. */
export function Arguments({ value }: { value: unknown }) {
  if (!value || typeof value !== "object" || Array.isArray(value)) return <Json value={value} />;
  const entries = Object.entries(value);
  if (entries.length === 0) return <p className="faint">{messages.noArguments}</p>;
  return (
    <dl className="args">
      {entries.map(([key, item]) => (
        <div key={key}>
          <dt>{spellOrder(key)}</dt>
          <dd>
            {item === "" ? (
              <span className="faint">{messages.emptyText}</span>
            ) : typeof item === "string" ? (
              spellOrder(item)
            ) : typeof item === "object" ? (
              <Json value={item} />
            ) : (
              String(item)
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const DECIDED: Record<string, string> = {
  approved: messages.approved,
  used: messages.approved,
  edited: messages.approvedChanged,
  denied: messages.denied,
  expired: messages.expired,
  withdrawn: messages.withdrawn,
};

/** One line about a decision that was made: "Approved by local, 09:41". */
export function DecidedLine({ approval }: { approval: Approval }) {
  const isGood = ["approved", "used", "edited"].includes(approval.state);
  return (
    <p className={`note decided ${isGood ? "" : "faint"}`}>
      <span className={isGood ? "ok" : "off"}>
        <MarkIcon mark={isGood ? "ok" : "off"} small />
      </span>
      <span>
        {approval.state === "expired"
          ? messages.questionExpired
          : `${DECIDED[approval.state] ?? approval.state}${approval.decided_by ? messages.by(nameDecider(approval)) : ""}${approval.decided_at ? `, ${formatClock(approval.decided_at)}` : ""}`}
        {approval.grant && messages.standing}
        {approval.note && ` · “${approval.note}”`}
      </span>
    </p>
  );
}
