import { useQueryClient } from "@tanstack/react-query";
import { CHANGED_BY_RESOURCES } from "../api/resources";

/** Reads anew what a change of a connector or an agent makes old. */
export function useReadAgain(): () => Promise<unknown> {
  const client = useQueryClient();
  return () =>
    Promise.all(CHANGED_BY_RESOURCES.map((key) => client.invalidateQueries({ queryKey: [key] })));
}
