import { expect, test } from "vitest";
import type { CallPart } from "../src/stream/answers";
import { foldCalls } from "../src/stream/fold_calls";

const make = (states: string) =>
  [...states].map(
    (letter, index) =>
      ({
        key: `${index}`,
        state: { d: "completed", f: "failed", r: "running" }[letter],
      }) as CallPart,
  );

test.each([
  ["ddddd", "1 1 1 1 1"],
  ["dddddd", "6"],
  ["ddddddfdd", "6 1 1 1"],
  ["fddddddrdddddddd", "1 6 1 8"],
  ["", ""],
])("more than five that are done in a row share a line: %s", (states, rows) => {
  expect(
    foldCalls(make(states))
      .map(({ calls }) => calls.length)
      .join(" "),
  ).toBe(rows);
});
