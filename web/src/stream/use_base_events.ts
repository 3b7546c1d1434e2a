import {
  type InfiniteData,
  type QueryClient,
  type QueryKey,
  useQueryClient,
} from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type Base, type Doc, eventsPath } from "../api/knowledge";
import { dropDocument, groupOf, type Pages, putDocument } from "./base_events";
import { type Connection, followEvents, type Sent } from "./follow";

/** Keeps the documents of a base up to date while it is shown. */
export function useBaseEvents(base: string): Connection {
  const client = useQueryClient();
  const [connection, setConnection] = useState<Connection>({ state: "closed" });
  useEffect(() => {
    const stop = new AbortController();
    let timer = 0;
    const due = new Map<string, QueryKey>();
    // Each is read again at most once a second, however many documents change.
    const readSoon = (...keys: QueryKey[]) => {
      for (const key of keys) due.set(JSON.stringify(key), key);
      if (due.size)
        timer ||= window.setTimeout(() => {
          timer = 0;
          const read = [...due.values()];
          due.clear();
          for (const queryKey of read)
            if (client.isFetching({ queryKey })) readSoon(queryKey);
            else void client.invalidateQueries({ queryKey });
        }, 1000);
    };
    const onAdded = (event: Event) => {
      if ((event as CustomEvent<string>).detail !== base) return;
      void client.invalidateQueries({ queryKey: ["documents", base] });
      readSoon(["bases"], ["base", base]);
    };
    window.addEventListener("documents-added", onAdded);
    followEvents({
      path: eventsPath(base),
      after: "",
      signal: stop.signal,
      onEvents: (events) => readSoon(...applyEvents(client, base, events)),
      onConnection: (next) => {
        // What happened while nobody listened is read.
        if (next.state === "open") void client.invalidateQueries({ queryKey: ["documents", base] });
        setConnection(next);
      },
    }).catch(() => setConnection({ state: "closed" }));
    return () => {
      stop.abort();
      clearTimeout(timer);
      window.removeEventListener("documents-added", onAdded);
    };
  }, [base, client]);
  return connection;
}

/**
 * Put what has changed into what is known of a base; returns what is to be read again.
 *
 * A list that is being read may be older than the event and replace it, so that it is read again.
 */
export function applyEvents(client: QueryClient, base: string, events: Sent[]): QueryKey[] {
  const kept: QueryKey[] = [
    ["documents", base],
    ["document", base],
    ["base", base],
  ];
  const again = kept.filter((queryKey) => client.isFetching({ queryKey }));
  for (const event of events)
    if (applyEvent(client, base, event)) again.push(["bases"], ["base", base]);
  return again;
}

/** Whether the counts of the base may have changed. */
function applyEvent(client: QueryClient, base: string, { event, data }: Sent): boolean {
  const lists = client.getQueryCache().findAll({ queryKey: ["documents", base] });
  const change = (apply: (shown: Pages, state: string, text: string) => Pages) => {
    for (const { queryKey } of lists)
      client.setQueryData<InfiniteData<Pages["pages"][number]>>(
        queryKey,
        (shown) => shown && apply(shown, String(queryKey[2] ?? ""), String(queryKey[3] ?? "")),
      );
  };
  if (event === "document") {
    const item = data as unknown as Doc;
    const key = ["document", base, item.id];
    const before = client.getQueryData<Doc>(key);
    change((shown, state, text) => putDocument(shown, item, state, text));
    if (before) void client.invalidateQueries({ queryKey: key });
    return !before || groupOf(before) !== groupOf(item);
  }
  if (event === "document_deleted") {
    change((shown) => dropDocument(shown, String(data.id)));
    return true;
  }
  if (event === "base") {
    client.setQueryData(["base", base], data as unknown as Base);
    void client.invalidateQueries({ queryKey: ["bases"] });
  }
  return false;
}
