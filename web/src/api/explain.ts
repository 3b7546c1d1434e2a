import { queryOptions } from "@tanstack/react-query";
import { api, type Schema, unwrap } from "./client";

export type Explanation = Schema<"ToolExplanation">;

/** People about whom the caller may ask. */
export const peopleQuery = queryOptions({
  queryKey: ["people"],
  queryFn: async ({ signal }) => (await unwrap(api.GET("/people", { signal }))).people,
  staleTime: 30_000,
});

/** Why somebody may or may not call a tool; `who` is empty for the caller, `args` for any call. */
export const explanationQuery = (tool: string, who: string, args: string) =>
  queryOptions({
    queryKey: ["explain", tool, who, args],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/tools/{tool}/explain", {
          params: {
            path: { tool },
            query: { ...(who ? { who } : {}), ...(args ? { arguments: args } : {}) },
          },
          signal,
        }),
      ),
    enabled: tool !== "",
    placeholderData: (old, query) => (query?.queryKey[1] === tool ? old : undefined),
  });
