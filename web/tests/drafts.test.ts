import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { forgetDrafts, keepDraft, readDraft } from "../src/parts/drafts";

/** As much of a Storage as is used: its items are its own properties. */
class FakeStorage {
  [key: string]: unknown;
  getItem(key: string): unknown {
    return this[key] ?? null;
  }
  setItem(key: string, text: string): void {
    this[key] = text;
  }
  removeItem(key: string): void {
    delete this[key];
  }
}

beforeEach(() => vi.stubGlobal("sessionStorage", new FakeStorage()));
afterEach(() => vi.unstubAllGlobals());

test("a draft is kept under its key until it is sent", () => {
  keepDraft("chat-c1", "half a thought");

  expect(readDraft("chat-c1")).toBe("half a thought");
  expect(readDraft("chat-c2")).toBeNull();

  keepDraft("chat-c1", "");
  expect(Object.keys(sessionStorage)).toEqual([]);
});

test("who signs out leaves no draft behind, and nothing else is touched", () => {
  sessionStorage.setItem("other", "stays");
  keepDraft("chat-c1", "half a thought");

  forgetDrafts();

  expect(Object.keys(sessionStorage)).toEqual(["other"]);
});

test("a browser that stores nothing has no draft", () => {
  vi.stubGlobal("sessionStorage", undefined);
  keepDraft("home", "x");

  expect(readDraft("home")).toBeNull();
});
