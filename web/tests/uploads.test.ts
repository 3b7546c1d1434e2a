import { expect, test } from "vitest";
import type { StoredUpload } from "../src/api/uploads";
import { mergeUploads, type Upload } from "../src/stream/uploads";

const stored = (id: string, more: Partial<StoredUpload> = {}) =>
  ({
    id,
    base: "b",
    path: "",
    name: `${id}.md`,
    size: 9,
    offset: 9,
    expires_at: 7,
    ...more,
  }) as StoredUpload;
const own = (id: string, upload: string, more: Partial<Upload> = {}) =>
  ({ id, base: "b", upload, state: "sending", expiresAt: null, ...more }) as Upload;

test("what is complete on the server waits for a decision, what is not for its file", () => {
  const shown = mergeUploads(
    [],
    [stored("whole"), stored("half", { offset: 4, path: "a/b.md" })],
    "b",
  );

  expect(shown.map((item) => [item.path, item.state, item.sent, item.expiresAt])).toEqual([
    ["whole.md", "changed", 9, 7],
    ["a/b.md", "lost", 4, 7],
  ]);
});

test("an upload of this tab is shown once, and has the expiry that the server says", () => {
  const shown = mergeUploads([own("1", "u1"), own("2", "")], [stored("u1")], "b");

  expect(shown.map((item) => [item.id, item.state, item.expiresAt])).toEqual([
    ["1", "sending", 7],
    ["2", "sending", null],
  ]);
});

test("uploads of other bases, and for none, are not shown", () => {
  const others = [stored("u1", { base: "other" }), stored("u2", { base: "" })];

  expect(mergeUploads([own("1", "u3", { base: "other" })], others, "b")).toEqual([]);
});
