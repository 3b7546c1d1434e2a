import { describe, expect, test } from "vitest";
import { questionOf } from "../src/parts/approval_card";
import { foldPegs, pegsOf, sortRows } from "../src/parts/pegs";
import { layOutLanes } from "../src/parts/plan";
import {
  addRunEvents,
  depthOf,
  EMPTY_RUN,
  listSteps,
  makeScale,
  type Step,
} from "../src/stream/steps";
import {
  describeCall,
  formatBytes,
  formatDuration,
  formatWhen,
  titleOf,
} from "../src/words/format";

test.each([
  [0.2, "under 1 ms"],
  [12.4, "12 ms"],
  [1400, "1.4 s"],
  [59_700, "60 s"],
  [60_000, "1 min"],
  [7_200_000, "2 h"],
  [192_000, "3 min 12 s"],
  [7_500_000, "2 h 5 min"],
  [172_800_000, "2 days"],
])("%d milliseconds are %s", (milliseconds, words) => {
  expect(formatDuration(milliseconds)).toBe(words);
});

test.each([
  [1, "1 byte"],
  [999, "999 bytes"],
  [1400, "1.4 kB"],
  [999_600, "1.0 MB"],
  [23_400_000, "23 MB"],
  [7_000_000_000_000, "7000 GB"],
])("%d bytes are %s", (bytes, words) => {
  expect(formatBytes(bytes)).toBe(words);
});

test("times near now are told as their distance", () => {
  expect(formatWhen(1000, 1010)).toBe("now");
  expect(formatWhen(1000, 1130)).toBe("2 min ago");
  expect(formatWhen(1_699_963_200, 1_795_000_000)).toBe("14 Nov 2023");
});

test("a run says when another process took it over", () => {
  const first = addRunEvents(EMPTY_RUN, [
    { id: "", event: "node_changed", data: { node: "a", state: "in_progress", at: 1 } },
    { id: "", event: "run_taken_over", data: { at: 2, cause: "lost" } },
  ]);
  const second = addRunEvents(first, [
    { id: "", event: "run_taken_over", data: { at: 3, cause: "stopped" } },
  ]);
  expect(second.takeovers).toEqual([
    { at: 2, cause: "lost" },
    { at: 3, cause: "stopped" },
  ]);
  expect([...second.steps.keys()]).toEqual(["a"]);
});

test("a wire name becomes words where there is no title", () => {
  expect(titleOf("shop__price_with_tax")).toBe("Price with tax");
  expect(titleOf("std__http_request")).toBe("HTTP request");
  expect(titleOf("shop__pay", "Pay \u202eeva")).toBe("Pay \\u202eeva");
  expect(titleOf("shop__refund", "shop__refund")).toBe("Refund");
  expect(titleOf("shop__refund", "Pay money back")).toBe("Pay money back");
});

test("a meta-tool says what it is for, and any other call its name", () => {
  expect(describeCall("call_agent", "", { agent_id: "writer" })).toBe("Ask the agent writer");
  expect(describeCall("find_tools", "", { query: "refund" })).toBe("Find tools: refund");
  expect(describeCall("find_tools", "", "{")).toBe("Find tools");
  expect(describeCall("shop__refund", "Pay money back", {})).toBe("Pay money back");
});

test("a peg that stands for several shows the worst", () => {
  const pegs = Array.from({ length: 100 }, (_, index) =>
    index === 50 ? ("x" as const) : ("" as const),
  );
  expect(foldPegs(pegs)).toHaveLength(34);
  expect(foldPegs(pegs).filter((peg) => peg === "x")).toHaveLength(1);
});

test("what does not answer comes first on the board, with a mark of its own", () => {
  const row = (source: string, status: "ok" | "failed", tools: number) => ({
    ...{ source, status, tools, ready: tools, title: "", kind: "", reason: "" },
    ...{ asks: 0, unavailable: 0, off: 0, held: 0 },
  });
  const rows = [row("a", "ok", 2), row("b", "failed", 0), row("c", "ok", 1)];

  expect(sortRows(rows).map(({ source }) => source)).toEqual(["b", "a", "c"]);
  expect(rows.map(pegsOf)).toEqual([["", ""], ["x"], [""]]);
});

test("a question names the arguments that have a value", () => {
  expect(questionOf("shop__drop", "Drop", { id: 3, note: "", why: " " })).toBe("Drop: id 3?");
});

test("steps that wait for others stand in later lanes, also in a circle", () => {
  const step = (id: string, ...needs: string[]) => ({
    id,
    title: id,
    needs,
    state: "pending",
    reason: "",
    text: "",
  });
  const lanes = layOutLanes([
    step("a"),
    step("b"),
    step("c", "a", "b"),
    step("d", "e"),
    step("e", "d"),
  ]);
  expect(lanes.map((lane) => lane.map((item) => item.id))).toEqual([["a", "b"], ["c"], ["d", "e"]]);
});

describe("the axis of a run", () => {
  const step = (from: number, to: number, state = "completed") =>
    ({ id: `${from}`, bars: [{ from, to, state }] }) as Step;

  test("is even where nothing waits long", () => {
    const scale = makeScale([step(0, 4), step(4, 8)], 0, 8, true);
    expect(scale.folds).toEqual([]);
    expect(scale.place(4)).toBeCloseTo(50);
  });

  test("folds a wait of over ten seconds, and keeps the order", () => {
    const scale = makeScale([step(0, 2), step(2, 102, "waiting"), step(102, 104)], 0, 104, true);
    expect(scale.folds).toMatchObject([{ seconds: 100 }]);
    expect(scale.place(2)).toBeCloseTo(45.5);
    expect(scale.place(102)).toBeCloseTo(54.5);
    expect(scale.place(104)).toBeCloseTo(100);
  });
});

test("steps of a run stand below what they are parts of", () => {
  const changed = (node: string, state: string, at: number) => ({
    id: `${at}`,
    event: "node_changed",
    data: { node, state, at },
  });
  const picture = addRunEvents(EMPTY_RUN, [
    changed("agent", "in_progress", 1),
    {
      id: "2",
      event: "plan",
      data: { node: "agent", round: 1, steps: [{ id: "b", title: "Second" }] },
    },
    changed("agent/round1/a", "in_progress", 3),
    changed("agent/round1/b", "in_progress", 4),
    changed("agent/round1/a/t1-0", "in_progress", 5),
    changed("agent/round1", "completed", 6),
  ]);
  const rows = listSteps(picture.steps);
  expect(rows.map((row) => row.id)).toEqual([
    "agent",
    "agent/round1/b",
    "agent/round1/a",
    "agent/round1/a/t1-0",
  ]);
  expect(rows.map(depthOf)).toEqual([0, 1, 1, 2]);
  expect(rows[1]?.title).toBe("Second");
});
