import type { CallQuery } from "../../api/audit";

/** What the address of the page holds. */
export interface AuditSearch {
  view?: string;
  who?: string;
  tool?: string;
  source?: string;
  outcome?: string;
  /** Days as a browser's field writes them, "2026-11-28"; both are included. */
  from?: string;
  until?: string;
  call?: string;
  kind?: string;
  record?: string;
}

/** The query of the filters. */
export function readQuery(search: AuditSearch): CallQuery {
  const query: CallQuery = {
    person: search.who,
    tool: search.tool,
    source: search.source,
    status: search.outcome,
    since: startOf(search.from, 0),
    until: startOf(search.until, 1),
  };
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as CallQuery;
}

/** Whether a filter narrows the calls. */
export function isNarrowed(search: AuditSearch): boolean {
  return Object.keys(readQuery(search)).length > 0;
}

/** The beginning of a day here, some days later, as Unix seconds. */
function startOf(day: string | undefined, later: number): number | undefined {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day ?? "");
  if (!found) return undefined;
  const [year, month, date] = found.slice(1).map(Number) as [number, number, number];
  return new Date(year, month - 1, date + later).getTime() / 1000;
}
