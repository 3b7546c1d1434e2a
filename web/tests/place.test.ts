import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { findConnectLink, keepPlace, restorePlace } from "../src/app/place";

const stored = new Map<string, string>();

/** A window at an address, which its history may replace. */
function at(address: string): void {
  const url = new URL(address, "http://localhost");
  const history = { replaceState: (_: unknown, __: string, to: string) => at(to) };
  vi.stubGlobal("window", { location: url, history });
}

const here = () => window.location.pathname + window.location.search + window.location.hash;

beforeEach(() => {
  stored.clear();
  vi.stubGlobal("sessionStorage", {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, text: string) => stored.set(key, text),
    removeItem: (key: string) => stored.delete(key),
  });
});
afterEach(() => vi.unstubAllGlobals());

test("the page for which a person signs in elsewhere is shown again, once", () => {
  at("/ui/consent?a=1#request=r");
  keepPlace();

  at("/ui/");
  restorePlace();
  expect(here()).toBe("/ui/consent?a=1#request=r");

  at("/ui/");
  restorePlace();
  expect(here()).toBe("/ui/");
});

test("it is forgotten where another page is opened", () => {
  at("/ui/consent#request=r");
  keepPlace();

  at("/ui/tools");
  restorePlace();
  expect(here()).toBe("/ui/tools");

  at("/ui/");
  restorePlace();
  expect(here()).toBe("/ui/");
});

test("only a page of the console is shown again", () => {
  stored.set("place", "//evil.example/");

  at("/ui/");
  restorePlace();

  expect(here()).toBe("/ui/");
});

test("a browser that stores nothing comes back to the first page", () => {
  const refuse = () => {
    throw new Error("denied");
  };
  vi.stubGlobal("sessionStorage", { getItem: refuse, setItem: refuse, removeItem: refuse });

  at("/ui/consent#request=r");
  keepPlace();
  at("/ui/");
  restorePlace();

  expect(here()).toBe("/ui/");
});

test("a link to connect an account leads to that page alone", () => {
  expect(findConnectLink("#connect=source=crm&for=u_1")).toBe(
    "/v1/credentials/oauth/connect?source=crm&for=u_1",
  );
  expect(findConnectLink("#request=r")).toBe("");
  expect(findConnectLink("#connect=")).toBe("");
  expect(findConnectLink("")).toBe("");
});
