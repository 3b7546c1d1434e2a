import type { Key } from "../api/people";
import { formatFull } from "../words/format";
import { messages } from "../words/messages";
import { people } from "../words/people";
import { StateMark } from "./marks";
import { RowButton, Table, UsedCell } from "./table";

const SOON = 14 * 24 * 3600;

/** Why a key no longer works; empty if it does, or if its MCP client may still renew it. */
export function endOf(key: Key): string {
  if (key.revoked_at !== null) return people.revoked;
  const until = lastDayOf(key);
  return until !== null && until <= Date.now() / 1000 ? people.ended : "";
}

function lastDayOf(key: Key): number | null {
  return key.renewable_until ?? key.expires_at;
}

interface KeyTableProps {
  /** Whose keys these are. */
  title: string;
  keys: readonly Key[];
  onRevoke: (key: Key) => void;
}

/** Keys: what each may do, when it ends, when it was used. */
export function KeyTable({ title, keys, onRevoke }: KeyTableProps) {
  return (
    <section className="card">
      <Table
        className="people"
        caption={title}
        columns={[people.key, people.may, people.ends, people.lastUsed]}
        hasActions
      >
        {keys.map((key) => (
          <tr key={key.id} className={endOf(key) ? "done" : undefined}>
            <td>
              <b>{key.name}</b>
              <small className="mono">{key.hint}…</small>
            </td>
            <td>
              <Scopes scopes={key.scopes} />
            </td>
            <td>
              {endOf(key) ? (
                <StateMark state="denied" word={endOf(key)} />
              ) : (
                <Ends at={lastDayOf(key)} />
              )}
            </td>
            <UsedCell at={key.used_at} label={people.lastUsed} />
            <td className="acts-cell">
              {!endOf(key) && (
                <RowButton action={messages.revoke} of={key.name} onClick={() => onRevoke(key)} />
              )}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

function Scopes({ scopes }: { scopes: readonly string[] }) {
  if (scopes.includes("*")) return <span>{people.mayAll}</span>;
  return (
    <span className="tags">
      {scopes.map((scope) => (
        <code className="tag" key={scope}>
          {scope}
        </code>
      ))}
    </span>
  );
}

function Ends({ at }: { at: number | null }) {
  if (at === null) return <span className="dim">{people.never}</span>;
  const left = at - Date.now() / 1000;
  return (
    <span className={left < SOON ? "wait" : undefined} title={formatFull(at)}>
      {people.inDays(Math.max(1, Math.ceil(left / 86_400)))}
    </span>
  );
}
