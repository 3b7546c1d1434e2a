import { queryOptions } from "@tanstack/react-query";
import { api, type Schema, send, unwrap } from "./client";

export type Quota = Schema<"QuotaAnswer">;
export type QuotaSubject = Pick<Quota, "measure" | "window" | "person" | "organisation">;

/** The quotas that hold for the caller, and those that it may change; what is used grows. */
export const quotasQuery = queryOptions({
  queryKey: ["quotas"],
  queryFn: async ({ signal }) => (await unwrap(api.GET("/quotas", { signal }))).quotas,
  refetchInterval: 30_000,
});

/** Sets a quota, in place of that of the same subject; null is for no limit. */
export function setQuota(subject: QuotaSubject, limit: number | null): Promise<Quota> {
  return send<Quota>("PUT", "/quotas", { ...subject, limit });
}

/** Removes a quota; the default of the board file holds again. */
export async function removeQuota(quota: Quota): Promise<void> {
  const { measure, window, person, organisation, set_by } = quota;
  const query = new URLSearchParams({ measure, window, person, organisation, set_by });
  await send("DELETE", `/quotas?${query}`);
}
