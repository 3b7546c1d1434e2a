import { expect, test } from "vitest";
import { actionOf, chooseOperations, listChosen } from "../src/stream/operations";

const CONFIG = { document: "x", include: [{ tags: ["old"] }] };

test("a choice takes the place of the one before, and the rest of the configuration stays", () => {
  expect(chooseOperations(CONFIG, "choose", ["b", "a"])).toEqual({
    document: "x",
    include: [{ operations: ["a", "b"] }],
  });
  expect(chooseOperations(CONFIG, "except", ["b"])).toEqual({
    document: "x",
    exclude: [{ operations: ["b"] }],
  });
  expect(chooseOperations(CONFIG, "all", ["b"])).toEqual({ document: "x" });
});

test("all but none is all, and none chosen is none", () => {
  expect(chooseOperations(CONFIG, "except", [])).toEqual({ document: "x" });
  expect(chooseOperations({}, "choose", [])).toEqual({ include: [{ operations: [] }] });
  expect(listChosen(["a", "b"], "choose", new Set())).toEqual([]);
  expect(listChosen(["a", "b"], "except", new Set(["a"]))).toEqual(["b"]);
});

test("the owner and the source of a tool are not part of its action", () => {
  expect(actionOf("bob--till__count__coins")).toBe("count__coins");
});
