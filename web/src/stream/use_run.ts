import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type Connection, followEvents, type Sent } from "./follow";
import { addRunEvents, EMPTY_RUN, type RunPicture } from "./steps";

/** The steps of a run, kept up to date while it works. */
export function useRun(
  id: string,
  isOver: boolean,
): { picture: RunPicture; connection: Connection } {
  const client = useQueryClient();
  const [picture, setPicture] = useState<RunPicture>(EMPTY_RUN);
  const [connection, setConnection] = useState<Connection>({ state: "closed" });
  useEffect(() => {
    const stop = new AbortController();
    let waiting: Sent[] = [];
    let frame = 0;
    setPicture(EMPTY_RUN);
    const draw = () => {
      frame = 0;
      const events = waiting;
      waiting = [];
      setPicture((before) => addRunEvents(before, events));
    };
    void followEvents({
      path: `/runs/${encodeURIComponent(id)}/events`,
      after: "",
      signal: stop.signal,
      onEvents: (events) => {
        waiting.push(...events);
        frame ||= requestAnimationFrame(draw);
        if (
          !isOver &&
          events.some((event) => /node_changed|run_|approval|question_/.test(event.event))
        )
          void client.invalidateQueries({ queryKey: ["run", id] });
        if (events.some((event) => /tool_finished|run_finished/.test(event.event)))
          void client.invalidateQueries({ queryKey: ["approval"] });
        if (events.some((event) => event.event === "run_finished")) {
          draw();
          setConnection({ state: "closed" });
          stop.abort();
        }
      },
      onConnection: setConnection,
    }).catch(() => setConnection({ state: "closed" }));
    return () => {
      stop.abort();
      cancelAnimationFrame(frame);
    };
  }, [id, isOver, client]);
  return { picture, connection };
}
