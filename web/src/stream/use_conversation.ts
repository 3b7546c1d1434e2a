import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { type Answers, addEvents } from "./answers";
import { type Connection, followEvents, type Sent } from "./follow";
import { renew } from "./renew";

const HIDDEN_FOR = 5 * 60_000;
const FROM_THE_BEGINNING = "1-0";
/** Events after which the messages have other states. */
const CHANGE_MESSAGES = [
  "run_started",
  "message_queued",
  "message_received",
  "message_withdrawn",
  "done",
];
/** Events after which other approvals wait: an answer that ends takes back those that it asked for. */
const CHANGE_WAITING = ["approval_required", "credential_required", "done"];
const CHANGE_APPROVALS = ["tool_finished", "done"];

interface Followed {
  answers: Answers;
  connection: Connection;
  error: Error | null;
}

/**
 * The answers of a conversation, kept up to date.
 *
 * Every event since the first message is read and folded, so that a reload draws the same picture.
 * A tab that is hidden for five minutes closes its connection, and goes on when it is seen again.
 */
export function useConversation(id: string): Followed {
  const client = useQueryClient();
  const [answers, setAnswers] = useState<Answers>(new Map());
  const [connection, setConnection] = useState<Connection>({ state: "closed" });
  const [error, setError] = useState<Error | null>(null);
  const isVisible = useVisibility(HIDDEN_FOR);
  const lastRef = useRef("");

  useEffect(() => {
    setAnswers(new Map());
    setError(null);
    lastRef.current = FROM_THE_BEGINNING;
  }, [id]);

  useEffect(() => {
    if (!isVisible || !id) return;
    const stop = new AbortController();
    let waiting: Sent[] = [];
    let frame = 0;
    const draw = () => {
      frame = 0;
      const events = waiting;
      waiting = [];
      setAnswers((before) => addEvents(before, events));
    };
    const onEvents = (events: Sent[]) => {
      for (const event of events) if (event.id) lastRef.current = event.id;
      waiting.push(...events);
      frame ||= requestAnimationFrame(draw);
      const kinds = new Set(events.map((event) => event.event));
      const hasAny = (wanted: readonly string[]) => wanted.some((kind) => kinds.has(kind));
      if (hasAny(CHANGE_MESSAGES)) {
        void renew(client, ["conversation", id]);
        void client.invalidateQueries({ queryKey: ["conversations"] });
      }
      if (hasAny(CHANGE_WAITING)) void client.invalidateQueries({ queryKey: ["approvals"] });
      if (hasAny(CHANGE_APPROVALS)) void client.invalidateQueries({ queryKey: ["approval"] });
      if (kinds.has("tool_finished"))
        void client.invalidateQueries({ queryKey: ["conversation", id, "files"] });
    };
    followEvents({
      path: `/conversations/${encodeURIComponent(id)}/events`,
      after: lastRef.current,
      signal: stop.signal,
      onEvents,
      onConnection: setConnection,
    }).catch((reason: unknown) => {
      if (stop.signal.aborted) return;
      setConnection({ state: "closed" });
      setError(reason as Error);
      void client.invalidateQueries({ queryKey: ["conversations"] });
    });
    return () => {
      stop.abort();
      cancelAnimationFrame(frame);
      if (waiting.length > 0) draw();
    };
  }, [id, isVisible, client]);

  return { answers, connection, error };
}

/** Whether the tab is seen, or was a moment ago. */
function useVisibility(grace: number): boolean {
  const [isVisible, setVisible] = useState(true);
  useEffect(() => {
    let timer = 0;
    const onChange = () => {
      clearTimeout(timer);
      if (document.visibilityState === "visible") setVisible(true);
      else timer = window.setTimeout(() => setVisible(false), grace);
    };
    document.addEventListener("visibilitychange", onChange);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onChange);
    };
  }, [grace]);
  return isVisible;
}
