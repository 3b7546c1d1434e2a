import { expect, test } from "vitest";
import { findDifference } from "../src/parts/document/difference";

function middles(before: string, after: string): [string, string] {
  const { head, tail } = findDifference(before, after);
  return [before.slice(head, before.length - tail), after.slice(head, after.length - tail)];
}

test.each([
  ["Within 14 days of purchase.", "Within 30 days of purchase.", ["14", "30"]],
  ["Keep it.", "Keep it.", ["", ""]],
  ["a a", "a a a", ["", " a"]],
  ["", "New.", ["", "New."]],
  ["One. Two.", "Three.", ["One. Two.", "Three."]],
])("%j and %j differ in whole words", (before, after, wanted) => {
  expect(middles(before, after)).toEqual(wanted);
});
