import type { Quota } from "../../api/quotas";
import { MarkIcon } from "../../parts/marks";
import { Table, WhoCell } from "../../parts/table";
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
        <Table
          className="people"
          caption={title}
          columns={[quotaWords.who, quotaWords.used, quotaWords.state]}
          hasActions
        >
          {quotas.map((quota) => (
            <Row key={keyOf(quota)} quota={quota} {...actions} />
          ))}
        </Table>
      )}
    </section>
  );
}

function Row({ quota, ...actions }: QuotaActionsProps & { quota: Quota }) {
  const { mark, word, note } = describeQuota(quota);
  const name = actions.nameOf(quota.person);
  return (
    <tr>
      <WhoCell name={name}>
        {nameQuota(quota)} · {quotaWords.setBy[quota.set_by]}
      </WhoCell>
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
