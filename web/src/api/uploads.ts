import { queryOptions } from "@tanstack/react-query";
import { api, type Schema, send, unwrap } from "./client";
import { ApiError } from "./errors";
import { checkDocument } from "./knowledge";

export type StoredUpload = Schema<"UploadAnswer">;

/** Uploads of the caller that are no files or documents yet. */
export const uploadsQuery = queryOptions({
  queryKey: ["uploads"],
  queryFn: async ({ signal }) =>
    (await unwrap(api.GET("/uploads", { params: { query: { limit: 500 } }, signal }))).uploads,
});

/** What an upload that waits would change in a base. */
export const uploadCheckQuery = (base: string, upload: string, path: string) =>
  queryOptions({
    queryKey: ["upload check", base, upload, path],
    queryFn: () => checkUpload(base, upload, path),
    gcTime: 0,
  });

export const checkUpload = (base: string, upload: string, path: string) =>
  checkDocument(base, { upload, path });

/** Delete an upload, or the file that it has become; one that is gone already is fine. */
export async function discardUpload(upload: string): Promise<void> {
  for (const kind of ["uploads", "files"])
    try {
      return await send("DELETE", `/${kind}/${encodeURIComponent(upload)}`);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    }
}
