import { expect, test } from "vitest";
import { nameAccount, readAccount } from "../src/words/approvals";
import { findEnd, formatUntil, formatUse, nameQuota, shareOf } from "../src/words/quotas";

const DAY = 86_400;
/** The end of November 2026 in UTC. */
const END = Date.UTC(2026, 11, 1) / 1000;
const november = { measure: "calls", window: "month", resets_at: END, changed_at: null } as const;

test("a quota says what it limits, and calls are whole where money has cents", () => {
  expect(nameQuota({ measure: "cost", window: "month" })).toBe("Cost a month");
  expect(formatUse("calls", 41_280)).toBe("41,280");
  expect(formatUse("cost", 13.2)).toBe("$13.20");
  expect(formatUse("cost", 50)).toBe("$50");
  expect(formatUse("cost", 0.004)).toBe("under $0.01");
});

test("a quota of nothing is used up, and one without a limit never is", () => {
  expect(shareOf({ limit: 0, used: 0 })).toBe(1);
  expect(shareOf({ limit: null, used: 900 })).toBe(0);
  expect(shareOf({ limit: 10, used: 20 })).toBe(1);
});

test("a pace that ends within the window has an end, a slower one has none", () => {
  const half = END - 15 * DAY;
  expect(findEnd({ ...november, limit: 100, used: 75 }, half)).toBe(END - 10 * DAY);
  expect(findEnd({ ...november, limit: 100, used: 50 }, half)).toBeNull();
  expect(findEnd({ ...november, limit: 100, used: 100 }, half)).toBeNull();
});

test("the pace of a quota counts from when it was set, and not from its first hours", () => {
  const set = END - 10 * DAY;
  const quota = { ...november, changed_at: set, limit: 100, used: 50 };
  expect(findEnd(quota, set + 2 * DAY)).toBe(set + 4 * DAY);
  expect(findEnd(quota, set + DAY / 2)).toBeNull();
});

test("an end within a day is a time, and another one a day", () => {
  expect(formatUntil(END, END - DAY / 2)).toMatch(/^at \d\d:\d\d$/);
  expect(formatUntil(END, END - 9 * DAY)).toMatch(/^on \d+ \w+$/);
});

test("the account of a record is read with its identity, whatever its name holds", () => {
  expect(readAccount("github/work (octocat) of u_1")).toEqual({
    source: "github",
    name: "work",
    identity: "octocat",
    owner: "u_1",
  });
  expect(readAccount("github/best of all of local")?.name).toBe("best of all");
  expect(readAccount("shop key")).toBeNull();
  expect(nameAccount("github/work (octocat) of u_1")).toBe("With the account work (octocat)");
  expect(nameAccount("shop key")).toBe("With the credential shop key of the board");
});
