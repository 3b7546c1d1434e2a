import { infiniteQueryOptions } from "@tanstack/react-query";
import { api, type Schema, send, unwrap } from "./client";
import type { Doc } from "./knowledge";

export type Changes = Schema<"ChangesAnswer">;
export type Passage = Schema<"ChangedPassage">;
export type Side = Schema<"ChangedSide">;
export type CitingAnswer = Schema<"CitingAnswerView">;
export type DocumentChange = Partial<
  Pick<Doc, "title" | "edition" | "replaces" | "audience" | "organisation">
>;

/** What changed in a document since an earlier text; the one before without `since`. */
export const changesQuery = (base: string, document: string, since?: number) =>
  infiniteQueryOptions({
    queryKey: ["document", base, document, "changes", since ?? 0],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/knowledge/{base}/documents/{document}/changes", {
          params: {
            path: { base, document },
            query: { start: pageParam, ...(since ? { since } : {}) },
          },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next_start,
  });

/** The answers of the caller that cite a document, page by page. */
export const citingQuery = (base: string, document: string) =>
  infiniteQueryOptions({
    queryKey: ["document", base, document, "answers"],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/knowledge/{base}/documents/{document}/answers", {
          params: {
            path: { base, document },
            query: pageParam ? { cursor: pageParam } : {},
          },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  });

export const changeDocument = (item: Doc, change: DocumentChange) =>
  send<Doc>(
    "PATCH",
    `/knowledge/${encodeURIComponent(item.base)}/documents/${encodeURIComponent(item.id)}`,
    change,
  );
