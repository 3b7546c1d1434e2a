import { createParser } from "eventsource-parser";
import { makeError, request } from "../api/client";
import { ApiError } from "../api/errors";

/** A stored event, as the server sends it. */
export interface Sent {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

export type Connection =
  | { state: "open" }
  | { state: "waiting"; seconds: number; since: number }
  | { state: "closed" };

interface Follow {
  path: string;
  /** The id of the last event that is known; empty for none. */
  after: string;
  signal: AbortSignal;
  onEvents: (events: Sent[]) => void;
  onConnection: (connection: Connection) => void;
}

const LONGEST_WAIT = 30;
/** Milliseconds; what follows a stream that ended sooner waits as after a lost connection. */
const SHORTEST_STREAM = 1000;
/** Refusals that end by themselves: somebody signs in, or fewer requests are made. */
const PASSING = new Set([401, 429]);

/**
 * Follow a stream of events until the signal aborts.
 *
 * A connection that is lost is made again after 1, 2, 4 ... 30 seconds, one that the server ends at
 * once. It goes on after the last event that arrived. Events that arrive together are handed over
 * together.
 *
 * @throws ApiError if the server refuses the stream (it is not there, or not for this caller).
 */
export async function followEvents(wanted: Follow): Promise<void> {
  let last = wanted.after;
  let failures = 0;
  let lostAt = 0;
  while (!wanted.signal.aborted) {
    try {
      const response = await request(wanted.path, {
        headers: last ? { Accept: "text/event-stream", "Last-Event-ID": last } : {},
        signal: wanted.signal,
      });
      if (response.ok && response.body) {
        const openedAt = Date.now();
        wanted.onConnection({ state: "open" });
        failures = 0;
        lostAt = 0;
        await readEvents(response.body, (events) => {
          for (const event of events) if (event.id) last = event.id;
          wanted.onEvents(events);
        });
        // A stream that the server ends has nothing more to tell, or goes on elsewhere.
        if (Date.now() - openedAt > SHORTEST_STREAM) continue;
      } else if (response.status < 500 && !PASSING.has(response.status)) {
        throw makeError(response, await response.json().catch(() => null));
      }
    } catch (error) {
      if (wanted.signal.aborted) return;
      if (error instanceof ApiError) throw error;
    }
    if (wanted.signal.aborted) return;
    lostAt ||= Date.now();
    const wait = Math.min(2 ** failures, LONGEST_WAIT) * (0.8 + Math.random() * 0.4);
    failures += 1;
    wanted.onConnection({ state: "waiting", seconds: Math.ceil(wait), since: lostAt });
    await sleep(wait * 1000, wanted.signal);
  }
}

async function readEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  onEvents: (events: Sent[]) => void,
): Promise<void> {
  let arrived: Sent[] = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      arrived.push({ id: id ?? "", event: event ?? "", data: JSON.parse(data) });
    },
  });
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    parser.feed(value);
    if (arrived.length > 0) {
      onEvents(arrived);
      arrived = [];
    }
  }
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
    window.addEventListener("reconnect-now", () => resolve(), { once: true, signal });
  });
}
