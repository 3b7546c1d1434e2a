import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { API } from "./address";
import { api, type Schema, send, unwrap } from "./client";

export type Base = Schema<"BaseAnswer">;
export type Doc = Schema<"DocumentAnswer">;
export type DocDetail = Schema<"DocumentDetail">;
export type DocText = Schema<"TextAnswer">;
export type Finding = Schema<"FindingAnswer">;
export type Deletion = Schema<"DeletionAnswer">;
export type Ask = Schema<"AskAnswer">;
export type AskSummary = Schema<"AskSummary">;
export type Citation = Schema<"CitationAnswer">;
export type Conflict = Schema<"ConflictAnswer">;
export type Hit = Schema<"HitAnswer">;
export type Gathering = Schema<"GatheringAnswer">;
export type Check = Schema<"FileCheckAnswer">;

export const STATES = ["failed", "held", "working", "ready"] as const;
export type StateFilter = (typeof STATES)[number];

export const basesQuery = queryOptions({
  queryKey: ["bases"],
  queryFn: async ({ signal }) => (await unwrap(api.GET("/knowledge", { signal }))).bases,
});

export const baseQuery = (base: string) =>
  queryOptions({
    queryKey: ["base", base],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/knowledge/{base}", { params: { path: { base } }, signal })),
    refetchInterval: ({ state }) =>
      state.data?.reembedding || state.data?.is_being_deleted ? 3_000 : false,
  });

/** The documents of a base, the worst first; kept up to date by its events. */
export const documentsQuery = (base: string, state: StateFilter | undefined, text: string) =>
  infiniteQueryOptions({
    queryKey: ["documents", base, state ?? "", text],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/knowledge/{base}/documents", {
          params: {
            path: { base },
            query: {
              limit: 100,
              ...(state ? { state } : {}),
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

export const documentQuery = (base: string, document: string) =>
  queryOptions({
    queryKey: ["document", base, document],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/knowledge/{base}/documents/{document}", {
          params: { path: { base, document } },
          signal,
        }),
      ),
  });

interface Place {
  page?: number;
  /** Show the page with this character instead. */
  offset?: number;
  /** Of the text; the current one without it. */
  revision?: number;
}

export const textQuery = (base: string, document: string, place: Place) =>
  queryOptions({
    queryKey: ["text", base, document, place],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/knowledge/{base}/documents/{document}/text", {
          params: { path: { base, document }, query: place },
          signal,
        }),
      ),
    placeholderData: (old) => (old?.document === document ? old : undefined),
  });

/** What goes when a document, or a base without one, is deleted. */
export const deletionQuery = (base: string, document = "") =>
  queryOptions({
    queryKey: ["deletion", base, document],
    queryFn: ({ signal }) =>
      document
        ? unwrap(
            api.GET("/knowledge/{base}/documents/{document}/deletion", {
              params: { path: { base, document } },
              signal,
            }),
          )
        : unwrap(api.GET("/knowledge/{base}/deletion", { params: { path: { base } }, signal })),
    staleTime: 0,
    gcTime: 0,
  });

export const asksQuery = (base: string) =>
  queryOptions({
    queryKey: ["asks", base],
    queryFn: async ({ signal }) =>
      (await unwrap(api.GET("/knowledge/{base}/asks", { params: { path: { base } }, signal })))
        .asks,
  });

export const askQuery = (base: string, call: string) =>
  queryOptions({
    queryKey: ["ask", base, call],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/knowledge/{base}/asks/{call}", { params: { path: { base, call } }, signal }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });

const pathOf = (base: string, document = "") =>
  `/knowledge/${encodeURIComponent(base)}${document ? `/documents/${encodeURIComponent(document)}` : ""}`;

export const eventsPath = (base: string) => `${pathOf(base)}/events`;

/** The address of the file of a document, to download. */
export const fileAddress = (base: string, document: string) =>
  `${API}${pathOf(base, document)}/file`;

/** The address of a page of a document as a picture. */
export const pictureAddress = (base: string, document: string, page: number) =>
  `${API}${pathOf(base, document)}/pages/${page}.png`;

export const addBase = (wanted: Pick<Base, "name" | "title" | "description">) =>
  send<Base>("POST", "/knowledge", wanted);

export const changeBase = (base: string, change: Partial<Base>) =>
  send<Base>("PATCH", pathOf(base), change);

export const deleteBase = (base: string) => send<null>("DELETE", pathOf(base));

/** Look again at where the documents of a base come from. */
export const refreshBase = (base: string) =>
  send<Schema<"RefreshAnswer">>("POST", `${pathOf(base)}/refresh`);

export const addDocuments = (base: string, wanted: Record<string, unknown>) =>
  send<Schema<"AddedDocuments">>("POST", `${pathOf(base)}/documents`, wanted);

/** What a file would change in a base; it is not taken in. */
export const checkDocument = (base: string, wanted: Record<string, unknown>) =>
  send<Check>("POST", `${pathOf(base)}/check`, wanted);

/** Whether an uploaded document of this path is in a base, so that another file would replace it. */
export async function hasDocument(base: string, path: string): Promise<boolean> {
  const params = { path: { base }, query: { text: path, limit: 100 } };
  const { documents } = await unwrap(api.GET("/knowledge/{base}/documents", { params }));
  return documents.some((item) => item.source === "upload" && item.path === path);
}

/** Take a document in again: after a failure, or from where it comes. */
export const takeInAgain = (item: Doc) =>
  send<Doc>(
    "POST",
    `${pathOf(item.base, item.id)}/${item.state === "failed" ? "retry" : "refresh"}`,
  );

export const reviewDocument = (
  base: string,
  document: string,
  decision: "leave_out" | "use" | "delete",
) => send<Doc | null>("POST", `${pathOf(base, document)}/review`, { decision });

export const deleteDocument = (base: string, document: string) =>
  send<null>("DELETE", pathOf(base, document));

export const askBase = (base: string, question: string, mode: Ask["mode"]) =>
  send<Ask>("POST", `${pathOf(base)}/ask`, { question, mode });
