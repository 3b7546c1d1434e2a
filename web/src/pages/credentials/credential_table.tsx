import type { Credential } from "../../api/credentials";
import { StateMark } from "../../parts/marks";
import { formatFull, formatWhen } from "../../words/format";
import { secrets } from "../../words/credentials";
import { people } from "../../words/people";

interface CredentialTableProps {
  credentials: readonly Credential[];
  onChoose: (credential: Credential) => void;
  /** A new value, or a new sign-in where the account was connected by consent. */
  onReplace: (credential: Credential) => void;
  onRemove: (credential: Credential) => void;
}

/** Whose account acts where: the accounts of a source together, those no longer accepted first. */
export function CredentialTable(props: CredentialTableProps) {
  const lost = new Set(
    props.credentials.filter((item) => item.state !== "ok").map((item) => item.source),
  );
  const rank = (item: Credential) => (lost.has(item.source) ? 0 : 1);
  const sorted = [...props.credentials].sort(
    (a, b) =>
      rank(a) - rank(b) ||
      a.source.localeCompare(b.source) ||
      Number(b.is_default) - Number(a.is_default),
  );
  return (
    <section className="card">
      <table className="tbl people">
        <caption className="cap">{secrets.title}</caption>
        <thead>
          <tr>
            <th scope="col">{secrets.source}</th>
            <th scope="col">{secrets.kind}</th>
            <th scope="col">{people.state}</th>
            <th scope="col">{people.lastUsed}</th>
            <th scope="col">
              <span className="sr">{people.action}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((item) => (
            <Row key={item.id} item={item} {...props} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ item, onChoose, onReplace, onRemove }: CredentialTableProps & { item: Credential }) {
  const isLost = item.state === "reconnect";
  return (
    <tr>
      <td>
        <b className="mono">{item.source}</b>
        <small>
          {item.name}
          {item.identity && ` ${secrets.ofSystem(item.identity)}`}
        </small>
      </td>
      <td>
        {secrets.kinds[item.kind]}
        {item.shared && <small>{secrets.shared}</small>}
      </td>
      <td>
        {isLost ? (
          <>
            <StateMark state="waiting" word={secrets.reconnect} />
            <small>{item.reason}</small>
          </>
        ) : (
          <StateMark
            state={item.is_default ? "done" : "pending"}
            word={item.is_default ? secrets.isDefault : secrets.isOther}
          />
        )}
      </td>
      <td
        className="dim num"
        data-l={secrets.lastUsed}
        title={item.used_at === null ? undefined : formatFull(item.used_at)}
      >
        {item.used_at === null ? people.never : formatWhen(item.used_at)}
      </td>
      <td className="acts-cell">
        <div className="acts">
          {!item.is_default && (
            <button
              type="button"
              className="btn sm"
              aria-label={`${secrets.makeDefault}: ${item.name}`}
              onClick={() => onChoose(item)}
            >
              {secrets.makeDefault}
            </button>
          )}
          <button
            type="button"
            className="btn sm"
            aria-label={`${isLost ? secrets.reconnect : secrets.replace}: ${item.name}`}
            onClick={() => onReplace(item)}
          >
            {isLost ? secrets.reconnect : secrets.replace}
          </button>
          <button
            type="button"
            className="btn sm quiet"
            aria-label={`${people.remove}: ${item.name}`}
            onClick={() => onRemove(item)}
          >
            {people.remove}
          </button>
        </div>
      </td>
    </tr>
  );
}
