import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, type Schema, setCsrfToken, unwrap } from "./client";

export type Tool = Schema<"ToolSummary">;
export type ToolDetail = Schema<"ToolDetail">;
export type Run = Schema<"RunAnswer">;
export type Approval = Schema<"ApprovalAnswer">;
export type Source = Schema<"SourceAnswer">;
export type Conversation = Schema<"ConversationSummary">;
export type Exchange = Schema<"ExchangeAnswer">;
export type Call = Schema<"CallRow">;
export type Agent = Schema<"AgentAnswer">;
export type Overview = Schema<"OverviewAnswer">;

const PAGE = 500;

/** What home shows, in one call. */
export const overviewQuery = queryOptions({
  queryKey: ["overview"],
  queryFn: ({ signal }) => unwrap(api.GET("/overview", { signal })),
  refetchInterval: 30_000,
});

export const agentsQuery = queryOptions({
  queryKey: ["agents"],
  queryFn: async ({ signal }) => (await unwrap(api.GET("/agents", { signal }))).agents,
  staleTime: 60_000,
});

/** The language models that can be chosen, the default one first. */
export const modelsQuery = queryOptions({
  queryKey: ["models"],
  queryFn: async ({ signal }) => (await unwrap(api.GET("/chat/models", { signal }))).models,
  staleTime: 60_000,
});

/** All tools; of the first reading of a large board each page is shown as it comes. */
export const toolsQuery = queryOptions({
  queryKey: ["tools"],
  queryFn: async ({ client, queryKey, signal }) => {
    const isFirst = client.getQueryData(queryKey) === undefined;
    const tools: Tool[] = [];
    let cursor: string | undefined;
    do {
      const page = await unwrap(
        api.GET("/tools", {
          params: { query: { limit: PAGE, cursor, unavailable: true } as never },
          signal,
        }),
      );
      tools.push(...(page.tools as Tool[]));
      cursor = page.next_cursor ?? undefined;
      if (isFirst && cursor) client.setQueryData(queryKey, [...tools]);
    } while (cursor);
    return tools;
  },
  staleTime: 30_000,
});

export const toolQuery = (name: string) =>
  queryOptions({
    queryKey: ["tool", name],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/tools/{tool}", { params: { path: { tool: name } }, signal })),
  });

export const explainQuery = (name: string) =>
  queryOptions({
    queryKey: ["explain", name],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/tools/{tool}/explain", { params: { path: { tool: name } }, signal })),
  });

export const versionsQuery = (name: string) =>
  queryOptions({
    queryKey: ["versions", name],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/tools/{tool}/versions", { params: { path: { tool: name } }, signal })),
  });

export const searchQuery = (text: string) =>
  queryOptions({
    queryKey: ["search", text],
    queryFn: ({ signal }) =>
      unwrap(api.POST("/tools/search", { body: { query: text, limit: 30 } as never, signal })),
    enabled: text.trim() !== "",
    placeholderData: (old) => old,
  });

export const sourcesQuery = queryOptions({
  queryKey: ["sources"],
  queryFn: ({ signal }) => unwrap(api.GET("/sources", { signal })),
});

/** Calls, the newest first. */
export const callsQuery = (query: { tool?: string; run_id?: string; limit?: number }) =>
  queryOptions({
    queryKey: ["calls", query],
    queryFn: ({ signal }) => unwrap(api.GET("/history", { params: { query }, signal })),
  });

export const runsQuery = (state: string) =>
  infiniteQueryOptions({
    queryKey: ["runs", state],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/runs", {
          params: {
            query: {
              limit: 50,
              ...(state ? { state } : {}),
              ...(pageParam ? { cursor: pageParam } : {}),
            } as never,
          },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  });

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id],
    queryFn: async ({ signal }) =>
      (await unwrap(
        api.GET("/runs/{run_id}", { params: { path: { run_id: id } }, signal }),
      )) as Run,
  });

export const approvalsQuery = (state: "pending" | "") =>
  queryOptions({
    queryKey: ["approvals", state],
    queryFn: async ({ signal }) => {
      const query = { limit: 100, ...(state ? { state } : {}) } as never;
      return (await unwrap(api.GET("/approvals", { params: { query }, signal }))).approvals;
    },
    refetchInterval: state === "pending" ? 15_000 : false,
  });

export const approvalQuery = (id: string) =>
  queryOptions({
    queryKey: ["approval", id],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/approvals/{approval}", { params: { path: { approval: id } }, signal })),
  });

export const conversationsQuery = (text: string) =>
  infiniteQueryOptions({
    queryKey: ["conversations", text],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/conversations", {
          params: {
            query: {
              limit: 40,
              ...(text ? { text } : {}),
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: (old) => old,
  });

export const conversationQuery = (id: string) =>
  queryOptions({
    queryKey: ["conversation", id],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/conversations/{id}", { params: { path: { id } }, signal })),
  });

/** The files of a conversation; read again with it, and whenever a call has ended. */
export const filesQuery = (id: string) =>
  queryOptions({
    queryKey: ["conversation", id, "files"],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/conversations/{id}/files", { params: { path: { id } }, signal })),
    placeholderData: (old) => old,
  });

/** Who is signed in, and whether the board chats. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: async ({ signal }) => {
    const session = await unwrap(api.GET("/session", { signal }));
    setCsrfToken(session.csrf);
    return session;
  },
  staleTime: 60_000,
});
