import { expect, test } from "vitest";
import { findDifference, type Words } from "../src/parts/document/difference";

const own = (words: readonly Words[]) =>
  words.filter((item) => item.isOwn).map((item) => item.text.trim());
const whole = (words: readonly Words[]) => words.map((item) => item.text).join("");

test.each([
  ["Within 14 days of purchase.", "Within 30 days of purchase.", ["14"], ["30"]],
  ["Keep it.", "Keep  it.", [], []],
  ["Keep 1 of 2.", "Keep 1 of 3.\n\nWe pay.", ["2."], ["3.\n\nWe pay."]],
  ["", "New.", [], ["New."]],
  ["a b c d e", "a x c y e", ["b", "d"], ["x", "y"]],
])("%j and %j differ in whole words", (before, after, old, now) => {
  const found = findDifference(before, after);
  expect([own(found.before), own(found.after)]).toEqual([old, now]);
  expect([whole(found.before), whole(found.after)]).toEqual([before, after]);
});

test("long versions without a word in common cost little", () => {
  const found = findDifference("a ".repeat(1000), "b ".repeat(1000));
  expect(own(found.before)).toEqual(["a ".repeat(1000).trim()]);
});
