import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, type Schema, send, unwrap } from "./client";

export type Entry = Schema<"EntryAnswer">;
export type EntryReview = Schema<"ReviewAnswer">;

/** Entries of the catalogues that the board file names, with how each catalogue was read. */
export const entriesQuery = (text: string) =>
  infiniteQueryOptions({
    queryKey: ["catalogue-entries", text],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/marketplace", {
          params: {
            query: {
              ...(text ? { query: text } : {}),
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: (old) => old,
  });

const pathOf = (marketplace: string, entry: string) =>
  `/marketplace/${encodeURIComponent(marketplace)}/${entry.split("/").map(encodeURIComponent).join("/")}`;

/** Everything that adding an entry would do. */
export const entryQuery = (marketplace: string, entry: string) =>
  queryOptions({
    queryKey: ["catalogue-entry", marketplace, entry],
    queryFn: () => send<EntryReview>("GET", pathOf(marketplace, entry)),
  });

/** Adds what was reviewed, and nothing else: the digest says what that was. */
export const addEntry = (review: EntryReview) =>
  send<Schema<"AddedAnswer">>("POST", pathOf(review.marketplace, review.entry), {
    digest: review.digest,
  });
