import type { CSSProperties } from "react";
import type { Quota } from "../../api/quotas";
import { RowButton } from "../../parts/table";
import { people } from "../../words/people";
import { findEnd, formatUntil, nameQuota, quotaWords, shareOf } from "../../words/quotas";

export interface QuotaActionsProps {
  mayChange: (quota: Quota) => boolean;
  mayRemove: (quota: Quota) => boolean;
  /** The name of a person; the name of the organisation if the handle is empty. */
  nameOf: (person: string) => string;
  onChange: (quota: Quota) => void;
  onRemove: (quota: Quota) => void;
}

const NEAR = 0.8;

/** The mark, the word and the reason of what is left of a quota. */
export function describeQuota(quota: Quota): {
  mark: "ok" | "wait" | "bad";
  word: string;
  note: string;
} {
  const until = formatUntil(quota.resets_at);
  if (quota.limit === null)
    return { mark: "ok", word: quotaWords.unlimited, note: quotaWords.anew(until) };
  const share = shareOf(quota);
  if (quota.limit === 0)
    return { mark: "bad", word: quotaWords.nothing, note: quotaWords.isRefused };
  if (share >= 1)
    return { mark: "bad", word: quotaWords.usedUp, note: quotaWords.refusedUntil(until) };
  const end = findEnd(quota);
  if (end !== null)
    return {
      mark: "wait",
      word: quotaWords.percent(share),
      note: quotaWords.pace(formatUntil(end)),
    };
  if (share >= NEAR)
    return { mark: "wait", word: quotaWords.nearlyUsed, note: quotaWords.anew(until) };
  return { mark: "ok", word: quotaWords.enough, note: quotaWords.anew(until) };
}

/** A bar of what was used; the same in words for those who do not see it. */
export function Meter({ quota }: { quota: Quota }) {
  if (quota.limit === null) return null;
  const { mark } = describeQuota(quota);
  const share = shareOf(quota);
  return (
    <>
      <span
        className={`meter ${mark}`}
        style={{ "--v": `${share * 100}%` } as CSSProperties}
        aria-hidden="true"
      />
      <span className="sr">{quotaWords.percent(share)}</span>
    </>
  );
}

/** Change and remove, for those who may. */
export function QuotaActions(props: QuotaActionsProps & { quota: Quota }) {
  const { quota, mayChange, mayRemove, nameOf, onChange, onRemove } = props;
  if (!mayRemove(quota)) return null;
  const of = `${nameOf(quota.person)}, ${nameQuota(quota).toLowerCase()}`;
  return (
    <div className="acts">
      {mayChange(quota) && (
        <RowButton action={quotaWords.change} of={of} onClick={() => onChange(quota)} />
      )}
      <RowButton action={people.remove} of={of} isQuiet onClick={() => onRemove(quota)} />
    </div>
  );
}

export function keyOf(quota: Quota): string {
  const { person, organisation, set_by, measure, window } = quota;
  return `${person} ${organisation} ${set_by} ${measure} ${window}`;
}
