import { expect, test } from "vitest";
import type { Citation, Conflict } from "../src/api/knowledge";
import { asksBase, findSource, placeConflicts, splitNumbers } from "../src/stream/cited";

const conflict = (first: number, second: number): Conflict => ({
  first,
  second,
  judge: "figures",
  about: "",
});

function answer(id: string, ...numbers: number[]) {
  const citations = numbers.map((number) => ({ number, title: id }) as Citation);
  return { id, citations, conflicts: [] };
}

test("a contradiction stands behind the paragraph that meets the second of its quotes", () => {
  const placed = placeConflicts(
    ["By 2026, 30 days [1].", "By 2023, 14 [2].", "Money [3]."],
    [conflict(1, 2), conflict(2, 3)],
  );
  expect(placed.map((items) => items.map((item) => [item.first, item.second]))).toEqual([
    [],
    [[1, 2]],
    [[2, 3]],
  ]);
});

test("a contradiction whose numbers are not in the text is not placed", () => {
  expect(placeConflicts(["Nothing [1]."], [conflict(1, 2)])).toEqual([[]]);
});

test("numbers in brackets are apart from the text, other brackets are text", () => {
  expect(splitNumbers("Yes [1][12], see [a] and [2026].")).toEqual([
    { text: "Yes ", number: null },
    { text: "[1]", number: 1 },
    { text: "[12]", number: 12 },
    { text: ", see [a] and [2026].", number: null },
  ]);
});

test("a number without an answer is that of the last answer that has it", () => {
  const answers = [answer("a", 1, 2), answer("b", 1)];
  expect(findSource(answers, 2, "")?.answer.id).toBe("a");
  expect(findSource(answers, 1, "")?.answer.id).toBe("b");
  expect(findSource(answers, 1, "a")?.citation.title).toBe("a");
  expect(findSource(answers, 9, "")).toBeNull();
});

test("tools of bases are known by their plain names, and behind a source", () => {
  expect(["kb_retrieve", "knowledge__grounded_retrieve", "shop__find"].map(asksBase)).toEqual([
    true,
    true,
    false,
  ]);
});
