import { describe, expect, test } from "vitest";
import type { Sent } from "../src/stream/follow";
import { addRunEvents, EMPTY_RUN, makeScale, type Step } from "../src/stream/steps";

const sent = (event: string, at: number, data: Record<string, unknown> = {}): Sent => ({
  id: "",
  event,
  data: { node: "fetch", at, ...data },
});
const fold = (...events: Sent[]): Step =>
  addRunEvents(EMPTY_RUN, events).steps.get("fetch") as Step;
const started = sent("node_changed", 100, { state: "in_progress", tool: "web__fetch" });
const retried = sent("tool_progress", 101, {
  tool: "web__fetch",
  attempt: 2,
  max_attempts: 3,
  delay: 4,
  error_code: "timeout",
});

describe("the steps of a run", () => {
  test("each try has a bar, with the reason why it ended", () => {
    const running = fold(started, retried);
    expect(running).toMatchObject({ state: "in_progress", attempts: 2 });
    expect(running.bars).toEqual([
      { from: 100, to: 101, state: "failed", error: "timeout" },
      { from: 105, to: 0, state: "in_progress" },
    ]);
    const ended = fold(started, retried, sent("node_changed", 107, { state: "completed" }));
    expect(ended.bars.at(-1)).toEqual({ from: 105, to: 107, state: "completed" });
  });

  test("a try that was to begin later and was cancelled before has no bar", () => {
    const cancelled = fold(started, retried, sent("node_changed", 103, { state: "cancelled" }));
    expect(cancelled.bars).toEqual([{ from: 100, to: 101, state: "failed", error: "timeout" }]);
  });

  test("what is to begin after the end of the axis stands at its end", () => {
    const { place, folds } = makeScale([fold(started, retried)], 100, 103, true);
    expect(folds).toEqual([]);
    expect([100, 101.5, 103, 205].map(place)).toEqual([0, 50, 100, 100]);
  });

  test("what a tool says of its progress stands until it is tried again", () => {
    const half = sent("tool_progress", 100.5, { done: 1, total: 2, text: "half" });
    expect(fold(started, half).progress).toBe("half, 1 of 2");
    expect(fold(started, half, retried).progress).toBe("");
  });
});
