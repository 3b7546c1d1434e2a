import type { Quota } from "../../api/quotas";
import { formatUse, nameQuota, quotaWords } from "../../words/quotas";
import { describeQuota, keyOf, Meter, QuotaActions, type QuotaActionsProps } from "./quota_parts";

interface QuotaSumProps extends QuotaActionsProps {
  title: string;
  quotas: readonly Quota[];
}

/** What an organisation as a whole may use, and what it has used. */
export function QuotaSum({ title, quotas, ...actions }: QuotaSumProps) {
  return (
    <section className="card" aria-label={quotaWords.ofAll(title)}>
      <header>
        <h2>{quotaWords.ofAll(title)}</h2>
      </header>
      {quotas.length === 0 ? (
        <p className="dim quiet-row">{quotaWords.ofAllNone}</p>
      ) : (
        <ul className="sum">
          {quotas.map((quota) => (
            <Tile key={keyOf(quota)} quota={quota} {...actions} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Tile({ quota, ...actions }: QuotaActionsProps & { quota: Quota }) {
  const { mark, note } = describeQuota(quota);
  return (
    <li>
      <h3>{nameQuota(quota)}</h3>
      <p className="big num">
        {formatUse(quota.measure, quota.used)}{" "}
        <small>
          {quota.limit === null
            ? quotaWords.unlimited.toLowerCase()
            : `of ${formatUse(quota.measure, quota.limit)}`}
        </small>
      </p>
      <Meter quota={quota} />
      <p className={`hint ${mark === "ok" ? "" : mark}`}>{note}</p>
      <p className="hint">{quotaWords.setBy[quota.set_by]}</p>
      <QuotaActions quota={quota} {...actions} />
    </li>
  );
}
