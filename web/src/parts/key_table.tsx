import type { Key } from "../api/people";
import { formatFull, formatWhen } from "../words/format";
import { messages } from "../words/messages";
import { people } from "../words/people";
import { StateMark } from "./marks";

const SOON = 14 * 24 * 3600;

/** Why a key no longer works; empty if it does. */
export function endOf(key: Key): string {
  if (key.revoked_at !== null) return people.revoked;
  const isLate = key.expires_at !== null && key.expires_at <= Date.now() / 1000;
  return isLate ? people.ended : "";
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
      <table className="tbl people">
        <caption className="cap">{title}</caption>
        <thead>
          <tr>
            <th scope="col">{people.key}</th>
            <th scope="col">{people.may}</th>
            <th scope="col">{people.ends}</th>
            <th scope="col">{people.lastUsed}</th>
            <th scope="col">
              <span className="sr">{people.action}</span>
            </th>
          </tr>
        </thead>
        <tbody>
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
                  <Ends at={key.expires_at} />
                )}
              </td>
              <td
                className="dim num"
                data-l={people.lastUsed}
                title={key.used_at === null ? undefined : formatFull(key.used_at)}
              >
                {key.used_at === null ? people.never : formatWhen(key.used_at)}
              </td>
              <td className="acts-cell">
                {!endOf(key) && (
                  <button
                    type="button"
                    className="btn sm"
                    aria-label={`${messages.revoke}: ${key.name}`}
                    onClick={() => onRevoke(key)}
                  >
                    {messages.revoke}
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
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
