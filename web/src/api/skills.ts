import { queryOptions } from "@tanstack/react-query";
import { api, type Schema, send, unwrap } from "./client";

export type Skill = Schema<"SkillSummary">;
export type SkillDetail = Schema<"SkillDetail">;

export const skillsQuery = queryOptions({
  queryKey: ["skills"],
  queryFn: async ({ signal }) => (await unwrap(api.GET("/skills", { signal }))).skills,
});

export const skillQuery = (tool: string) =>
  queryOptions({
    queryKey: ["skill", tool],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/skills/{skill}", { params: { path: { skill: tool } }, signal })),
  });

/** A file of a skill, read as models read it: by a call of its tool. */
export const skillFileQuery = (tool: string, path: string) =>
  queryOptions({
    queryKey: ["skill", tool, path],
    queryFn: async () => {
      const body = { tool_id: tool, input: { path } };
      return String((await send<Schema<"ExecuteAnswer">>("POST", "/execute", body)).output ?? "");
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
