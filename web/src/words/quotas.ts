import { formatClock, formatDay, formatNumber } from "./format";

type Measure = "calls" | "cost";
type Window = "day" | "month";

interface Used {
  measure: Measure;
  window: Window;
  limit: number | null;
  used: number;
  /** When the window ends, in Unix seconds. */
  resets_at: number;
  /** When it was set; null for a default of the board file. */
  changed_at: number | null;
}

/** What the console says about quotas. */
export const quotaWords = {
  quotas: "Quotas",
  what: "How much the organisation, its members and its service accounts may use. The strictest quota holds.",
  failed: "The quotas could not be loaded",
  setOne: "Set a quota",
  change: "Change",
  changeTitle: (of: string) => `Change the quota: ${of}`,
  removeQuestion: (of: string) => `Remove the quota: ${of}?`,
  removeWhat: "It holds no longer, from the next call on. A default of the board file holds again.",
  ofAll: (title: string) => `All of ${title}`,
  ofAllNone: "The organisation as a whole has no quota.",
  ofPeople: "People and service accounts",
  ofPeopleWhat: (title: string) => `What each of them uses on behalf of ${title}.`,
  ofPeopleNone: "No quota for one person or service account.",
  everywhere: "Wherever they act",
  everywhereWhat: "These count what is used on behalf of any organisation.",
  noneForYou: "No quota holds for you here",
  noneForYouWhy: "Administrators may limit calls, and the cost of language models.",
  who: "Who",
  whole: "The whole organisation",
  onePerson: "One person or service account",
  person: "Person or service account",
  limits: "What it limits",
  measures: {
    calls: ["Calls", "Of tools, once they run"],
    cost: ["Cost", "Of language models, in US dollars"],
  } as Record<Measure, [string, string]>,
  per: "In each",
  windows: { day: "Day", month: "Month" } as Record<Window, string>,
  windowHint: "A calendar day or month in UTC. A new quota counts from now on.",
  limit: { calls: "Calls at most", cost: "US dollars at most" } as Record<Measure, string>,
  limitHint: "0 allows nothing.",
  noLimit: "No limit",
  noLimitWhat: "In place of the default of the board file",
  anywhere: "Wherever the person acts",
  anywhereWhat: "Also on behalf of other organisations",
  notANumber: { calls: "Write a whole number.", cost: "Write an amount, as 20 or 0.50." } as Record<
    Measure,
    string
  >,
  save: "Set the quota",
  used: "Used",
  state: "State",
  percent: (share: number) => `${Math.floor(share * 100)}% used`,
  usedUp: "Used up",
  refusedUntil: (until: string) => `Refused until ${until.replace(/^(at|on) /, "")}`,
  nothing: "Nothing allowed",
  isRefused: "Every use is refused",
  nearlyUsed: "Nearly used up",
  enough: "Enough left",
  unlimited: "No limit",
  anew: (until: string) => `Begins anew ${until}`,
  pace: (until: string) => `At this pace used up ${until}`,
  setBy: {
    operator: "Set by an operator",
    administrator: "Set by an administrator",
    board: "Default of the board",
  } as Record<string, string>,
} as const;

const NAMES: Record<Measure, Record<Window, string>> = {
  calls: { day: "Calls a day", month: "Calls a month" },
  cost: { day: "Cost a day", month: "Cost a month" },
};

/** "Calls a day". */
export function nameQuota({ measure, window }: Pick<Used, "measure" | "window">): string {
  return NAMES[measure][window];
}

/** "412", or "$13.20". */
export function formatUse(measure: Measure, amount: number): string {
  if (measure === "calls") return formatNumber(amount);
  return amount > 0 && amount < 0.01 ? "under $0.01" : `$${formatMoney(amount)}`;
}

const money = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

function formatMoney(amount: number): string {
  return Number.isInteger(amount) ? formatNumber(amount) : money.format(amount);
}

/** "at 01:00" within a day, else "on 1 Dec". */
export function formatUntil(at: number, now = Date.now() / 1000): string {
  return at - now < DAY ? `at ${formatClock(at)}` : `on ${formatDay(at)}`;
}

/** The share of a quota that is used, from 0 to 1; a quota of nothing is used up. */
export function shareOf({ limit, used }: Pick<Used, "limit" | "used">): number {
  if (limit === null) return 0;
  return limit > 0 ? Math.min(1, used / limit) : 1;
}

/** When a quota is used up if its use goes on as it did; null for not in this window. */
export function findEnd(quota: Used, now = Date.now() / 1000): number | null {
  const { limit, used, window, resets_at: end, changed_at: set } = quota;
  if (limit === null || used <= 0 || used >= limit) return null;
  const begin = Math.max(end - (window === "day" ? DAY : daysBefore(end) * DAY), set ?? 0);
  const passed = now - begin;
  if (passed < LEAST[window]) return null;
  const at = begin + (passed * limit) / used;
  return at < end ? at : null;
}

const DAY = 86_400;
/** Of a shorter time nothing can be said. */
const LEAST = { day: 3600, month: DAY };

/** The days of the month that ends at a time in UTC. */
function daysBefore(end: number): number {
  const last = new Date(end * 1000 - 1);
  return new Date(Date.UTC(last.getUTCFullYear(), last.getUTCMonth() + 1, 0)).getUTCDate();
}
