import type { Credential } from "../../api/credentials";
import { StateMark } from "../../parts/marks";
import { RowButton, Table, UsedCell } from "../../parts/table";
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
      <Table
        className="people"
        caption={secrets.title}
        columns={[secrets.source, secrets.kind, people.state, people.lastUsed]}
        hasActions
      >
        {sorted.map((item) => (
          <Row key={item.id} item={item} {...props} />
        ))}
      </Table>
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
      <UsedCell at={item.used_at} label={people.lastUsed} />
      <td className="acts-cell">
        <div className="acts">
          {!item.is_default && (
            <RowButton action={secrets.makeDefault} of={item.name} onClick={() => onChoose(item)} />
          )}
          <RowButton
            action={isLost ? secrets.reconnect : secrets.replace}
            of={item.name}
            onClick={() => onReplace(item)}
          />
          <RowButton action={people.remove} of={item.name} isQuiet onClick={() => onRemove(item)} />
        </div>
      </td>
    </tr>
  );
}
