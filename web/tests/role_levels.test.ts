import { expect, test } from "vitest";
import { listChanges, listLevels, listSources, setLevel } from "../src/stream/role_levels";

test("a source is as strong as its strongest tool, and a level above it is not offered", () => {
  const rows = listSources([
    { name: "b__x", source: "b", effect: "read" },
    { name: "a__x", source: "a", effect: "read" },
    { name: "a__y", source: "a", effect: "write" },
    { name: "alone", source: "", effect: "admin" },
  ]);
  expect(rows).toEqual([
    { name: "a", tools: 2, strongest: "write" },
    { name: "b", tools: 1, strongest: "read" },
  ]);
  expect(listLevels("read", "")).toEqual(["read"]);
  expect(listLevels("read", "admin")).toEqual(["read", "admin"]);
});

test("a change names what it gives and what it takes", () => {
  const stored = { desk: { shop: "read", bank: "write" } } as const;
  const draft = { desk: setLevel(setLevel(stored.desk, "shop", "write"), "bank", "") };
  expect(listChanges(stored, draft)).toEqual([
    { role: "desk", source: "shop", before: "read", after: "write" },
    { role: "desk", source: "bank", before: "write", after: "" },
  ]);
  expect(listChanges(stored, stored)).toEqual([]);
});
