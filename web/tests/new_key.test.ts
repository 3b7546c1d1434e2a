import { expect, test } from "vitest";
import { newKey } from "../src/api/new_key";

test("each key is another one", () => {
  const keys = new Set(Array.from({ length: 100 }, newKey));

  expect(keys.size).toBe(100);
  for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/);
});
