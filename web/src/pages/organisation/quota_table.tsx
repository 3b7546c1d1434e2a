import type { Quota } from "../../api/quotas";
import { MarkIcon } from "../../parts/marks";
import { people } from "../../words/people";
import { formatUse, nameQuota, quotaWords } from "../../words/quotas";
import { describeQuota, keyOf, Meter, QuotaActions, type QuotaActionsProps } from "./quota_parts";

interface QuotaTableProps extends QuotaActionsProps {
  title: string;
  /** What the quotas have in common. */
  what?: string;
  /** Said where there are none. */
  none?: string;
  quotas: readonly Quota[];
}

/** The quotas of people and service accounts, with what they have used. */
export function QuotaTable({ title, what, none, quotas, ...actions }: QuotaTableProps) {
  return (
    <section className="card clip" aria-label={title}>
      <header>
        <div>
          <h2>{title}</h2>
          {what && <p className="hint">{what}</p>}
        </div>
      </header>
      {quotas.length === 0 ? (
        <p className="dim quiet-row">{none}</p>
      ) : (
        <table className="tbl people">
          <caption className="sr">{title}</caption>
          <thead>
            <tr>
              <th scope="col">{quotaWords.who}</th>
              <th scope="col">{quotaWords.used}</th>
              <th scope="col">{quotaWords.state}</th>
              <th scope="col">
                <span className="sr">{people.action}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {quotas.map((quota) => (
              <Row key={keyOf(quota)} quota={quota} {...actions} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Row({ quota, ...actions }: QuotaActionsProps & { quota: Quota }) {
  const { mark, word, note } = describeQuota(quota);
  const name = actions.nameOf(quota.person);
  return (
    <tr>
      <td>
        <div className="who">
          <span className="face" aria-hidden="true">
            {name.charAt(0).toUpperCase()}
          </span>
          <div>
            <b>{name}</b>
            <small>
              {nameQuota(quota)} · {quotaWords.setBy[quota.set_by]}
            </small>
          </div>
        </div>
      </td>
      <td className="use">
        <span className="num">
          {formatUse(quota.measure, quota.used)}{" "}
          <span className="faint">
            {quota.limit === null
              ? quotaWords.unlimited.toLowerCase()
              : `of ${formatUse(quota.measure, quota.limit)}`}
          </span>
        </span>
        <Meter quota={quota} />
      </td>
      <td>
        <span className={`state ${mark}`}>
          <MarkIcon mark={mark} small /> {word}
        </span>
        <small>{note}</small>
      </td>
      <td className="acts-cell">
        <QuotaActions quota={quota} {...actions} />
      </td>
    </tr>
  );
}
