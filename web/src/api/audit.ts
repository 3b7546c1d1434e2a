import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { API } from "./address";
import { api, type Schema, unwrap } from "./client";
import { isOperator, type Session } from "./people";
import type { Call } from "./queries";

export type AuditRecord = Schema<"AuditRecordAnswer">;
export type AuditReport = Schema<"AuditReportAnswer">;
export type Totals = Schema<"CallTotalsAnswer">;

/** Which calls are shown; an empty field means any. */
export interface CallQuery {
  person?: string;
  tool?: string;
  source?: string;
  status?: string;
  since?: number;
  until?: number;
  call_id?: string;
}

/** A call with the names and handles of the people in it, by their ids. */
interface FoundCall {
  call: Call | null;
  names: Record<string, string>;
  handles: Record<string, string>;
}

const PAGE = 50;

/** Calls that the caller may see, the newest first, with the names of who called. */
export const historyQuery = (query: CallQuery) =>
  infiniteQueryOptions({
    queryKey: ["history", query],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/history", {
          params: { query: { ...query, limit: PAGE, cursor: pageParam } },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: (old) => old,
  });

/** One call by its id, and the people in it; no call where it is not there. */
export const callQuery = (id: string) =>
  queryOptions({
    queryKey: ["history", "call", id],
    queryFn: async ({ signal }): Promise<FoundCall> => {
      const query = { call_id: id, limit: 1 };
      const { calls, names, handles } = await unwrap(
        api.GET("/history", { params: { query }, signal }),
      );
      return { call: calls[0] ?? null, names, handles };
    },
  });

/** What only operators read behind an error id. */
export const errorQuery = (id: string) =>
  queryOptions({
    queryKey: ["history", "error", id],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/history/errors/{error_id}", { params: { path: { error_id: id } }, signal })),
    retry: false,
  });

/** Calls, failures and durations of the last hours. */
export const totalsQuery = (query: { tool?: string; source?: string; hours: number }) =>
  queryOptions({
    queryKey: ["totals", query],
    queryFn: ({ signal }) => unwrap(api.GET("/history/totals", { params: { query }, signal })),
  });

/** The records of the audit trail, the newest first. */
export const trailQuery = (kind: string) =>
  infiniteQueryOptions({
    queryKey: ["audit", kind],
    initialPageParam: null as number | null,
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/audit", {
          params: {
            query: {
              order: "newest",
              limit: PAGE,
              kind,
              ...(pageParam === null ? {} : { before: pageParam }),
            },
          },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next_before,
    placeholderData: (old) => old,
  });

/** One record by its number; none where it is not there. */
export const recordQuery = (sequence: number) =>
  queryOptions({
    queryKey: ["audit", "record", sequence],
    queryFn: async ({ signal }) => {
      const query = { after: sequence - 1, limit: 1 };
      const { records, names, handles } = await unwrap(
        api.GET("/audit", { params: { query }, signal }),
      );
      const record = records[0]?.sequence === sequence ? records[0] : null;
      return { record, names, handles };
    },
  });

/** Where a browser downloads the calls of a query. */
export function exportAddress(query: CallQuery, format: "csv" | "jsonl"): string {
  const given = Object.entries({ ...query, format }).filter(([, value]) => value !== undefined);
  return `${API}/history/export?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}`;
}

export const TRAIL_EXPORT = `${API}/audit/export`;

/** Whether the caller reads the records of others. */
export function readsAudit(session: Session | undefined): boolean {
  const scopes = session?.scopes ?? [];
  return (
    isOperator(session) ||
    scopes.includes("audit:read") ||
    scopes.includes(`${session?.tenant}/audit:read`)
  );
}
