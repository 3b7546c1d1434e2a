import { afterEach, expect, test, vi } from "vitest";
import { type Connection, followEvents } from "../src/stream/follow";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** A server that streams for a time, ends the stream, and then does not know it any more. */
function serveThenForget(milliseconds: number): void {
  let count = 0;
  vi.stubGlobal("window", new EventTarget());
  vi.stubGlobal("fetch", async () => {
    if (count++ > 0) return Response.json({ status: 404, detail: "gone" }, { status: 404 });
    const body = new ReadableStream({
      start: (controller) => void setTimeout(() => controller.close(), milliseconds),
    });
    return new Response(body);
  });
}

async function follow(): Promise<string[]> {
  const states: string[] = [];
  const followed = followEvents({
    path: "/conversations/c/events",
    after: "",
    signal: new AbortController().signal,
    onEvents: () => undefined,
    onConnection: (connection: Connection) => states.push(connection.state),
  });
  const refused = expect(followed).rejects.toMatchObject({ status: 404 });
  await vi.advanceTimersByTimeAsync(10_000);
  await refused;
  return states;
}

test("a stream that the server ends is not a lost connection", async () => {
  vi.useFakeTimers();
  serveThenForget(5000);

  expect(await follow()).toEqual(["open"]);
});

test("a stream that ends at once is not asked for again at once", async () => {
  vi.useFakeTimers();
  serveThenForget(0);

  expect(await follow()).toEqual(["open", "waiting"]);
});
