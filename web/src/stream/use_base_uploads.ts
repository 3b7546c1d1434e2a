import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { uploadsQuery } from "../api/uploads";
import { mergeUploads, type Upload, useUploads } from "./uploads";

/** The uploads of a base: those of this tab, and those that wait on the server. */
export function useBaseUploads(base: string): readonly Upload[] {
  const client = useQueryClient();
  const own = useUploads();
  const stored = useQuery(uploadsQuery);
  useEffect(() => {
    const read = () => void client.invalidateQueries(uploadsQuery);
    window.addEventListener("upload-waits", read);
    return () => window.removeEventListener("upload-waits", read);
  }, [client]);
  return mergeUploads(own, stored.data ?? [], base);
}
