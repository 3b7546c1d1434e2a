import { queryOptions } from "@tanstack/react-query";
import { api, type Schema, send, unwrap } from "./client";

export type Resource = Schema<"ResourceAnswer">;
export type SourceKind = Schema<"SourceKindAnswer">;
export type Report = Schema<"ConnectorReportAnswer">;

/** What a connector or an agent is changed to; a field that is left out stays. */
export type ResourceChange = Partial<
  Pick<Resource, "title" | "description" | "visibility" | "organisation">
> & { config?: Record<string, unknown> };

/** The kinds of sources that can be connected, with the schemas of their forms. */
export const sourceKindsQuery = queryOptions({
  queryKey: ["source-kinds"],
  queryFn: async ({ signal }) => (await unwrap(api.GET("/source-kinds", { signal }))).kinds,
  staleTime: Number.POSITIVE_INFINITY,
});

export const resourcesQuery = (kind: "connector" | "agent" | "skill" | "model") =>
  queryOptions({
    queryKey: ["resources", kind],
    queryFn: async ({ signal }) => {
      const query = { kind };
      return (await unwrap(api.GET("/resources", { params: { query }, signal }))).resources;
    },
  });

/** What waits for a review by the caller. */
export const reviewsQuery = queryOptions({
  queryKey: ["resources", "waiting"],
  queryFn: async ({ signal }) => {
    const query = { waiting: true };
    return (await unwrap(api.GET("/resources", { params: { query }, signal }))).resources;
  },
  refetchInterval: 60_000,
});

export const resourceQuery = (id: string) =>
  queryOptions({
    queryKey: ["resource", id],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/resources/{resource}", { params: { path: { resource: id } }, signal })),
  });

/** Whether something is shared with an organisation, and not on its way into the Market. */
export const isSharedOnly = (
  item: Pick<Resource, "visibility" | "publish_status" | "may_review">,
) => item.visibility === "organisation" && item.publish_status === "none" && item.may_review;

export const marketQuery = queryOptions({
  queryKey: ["market"],
  queryFn: async ({ signal }) => (await unwrap(api.GET("/market", { signal }))).resources,
});

export const changeResource = (id: string, change: ResourceChange) =>
  send<Resource>("PATCH", `/resources/${id}`, change);

/** Queries that a change of a resource makes old. */
export const CHANGED_BY_RESOURCES = [
  "resources",
  "resource",
  "market",
  "tools",
  "sources",
  "agents",
  "skills",
  "skill",
  "models",
  "bases",
  "base",
] as const;
