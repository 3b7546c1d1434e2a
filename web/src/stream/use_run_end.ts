import { useEffect } from "react";
import { ApiError } from "../api/errors";
import { followEvents } from "./follow";

/** Says once that a run has ended, by its events; an empty id follows none. */
export function useRunEnd(run: string, onEnd: () => void): void {
  useEffect(() => {
    if (!run) return;
    const stop = new AbortController();
    followEvents({
      path: `/runs/${encodeURIComponent(run)}/events`,
      after: "",
      signal: stop.signal,
      onEvents: (events) => {
        if (!events.some((item) => item.event === "run_finished")) return;
        stop.abort();
        onEnd();
      },
      onConnection: () => undefined,
    }).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      onEnd(); // it is not kept any more
    });
    return () => stop.abort();
  }, [run, onEnd]);
}
