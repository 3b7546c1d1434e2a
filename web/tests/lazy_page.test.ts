import { afterEach, expect, test, vi } from "vitest";
import { answers } from "../src/app/lazy_page";

afterEach(() => vi.unstubAllGlobals());

test.each([
  [200, true],
  [401, true],
  [502, false],
])("a server that answers with %s is there: %s", async (status, isThere) => {
  vi.stubGlobal("fetch", async () => new Response(null, { status }));

  expect(await answers()).toBe(isThere);
});

test("a server that cannot be reached is not there", async () => {
  vi.stubGlobal("fetch", async () => {
    throw new TypeError("failed to fetch");
  });

  expect(await answers()).toBe(false);
});
