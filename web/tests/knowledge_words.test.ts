import { expect, test } from "vitest";
import type { Doc } from "../src/api/knowledge";
import {
  advanceBatch,
  dropDocument,
  NO_BATCH,
  type Pages,
  putDocument,
  shareDone,
} from "../src/stream/base_events";
import { sortChosen } from "../src/stream/chosen_files";
import { catalogues } from "../src/words/catalogues";
import { evidence } from "../src/words/evidence";
import { changeWords, describeChange } from "../src/words/base_changes";
import { describeAudience, describeFaults, describeFile, knowledge } from "../src/words/knowledge";
import { roleWords } from "../src/words/roles";
import { skillWords } from "../src/words/skills";

const SOURCES = import.meta.glob<string>(
  [
    "../src/pages/{ask,document,knowledge,skills}/*.tsx",
    "../src/pages/market/{entry_dialog,outside}.tsx",
    "../src/pages/organisation/{new_role,role_matrix,roles_page}.tsx",
    "../src/pages/chat/{citations,source_panel}.tsx",
    "../src/parts/document/*.tsx",
  ],
  { query: "?raw", import: "default", eager: true },
);
const SAID = [knowledge, changeWords, evidence, skillWords, roleWords, catalogues].flatMap(
  (words) => Object.values<unknown>(words),
);
const TEXTS = [
  /^ +[A-Z][a-z]+( [a-z]+)+[.:]?$/m,
  /\b(aria-label|placeholder|title|label|what|missing)="[A-Z]/,
  />[A-Z][a-z]+( [a-z]+)*</,
];

test("nothing begs, cheers or speaks of chunks, ingestion and vectors stores", () => {
  const said = SAID.map(String);
  const banned = /please|sorry|oops|success|!(?!=)|\bchunk|ingest|vector store|hallucinat|tenant/i;
  expect(said.filter((text) => banned.test(text))).toEqual([]);
});

test.each(Object.entries(SOURCES))("%s takes its words from the messages", (name, source) => {
  expect(
    TEXTS.flatMap((pattern) => pattern.exec(source)?.[0] ?? []),
    name,
  ).toEqual([]);
});

test("a file is described by its kind, and by its name where the document has a title", () => {
  const file = { media_type: "application/pdf", name: "a.pdf", size: 8_100_000, pages: 14 };
  expect(describeFile(file)).toBe("PDF · 8.1 MB · 14 pages");
  expect(describeFile({ ...file, title: "Terms" })).toBe("a.pdf · PDF · 8.1 MB · 14 pages");
  expect(describeFile({ ...file, title: "a.pdf" })).toBe("PDF · 8.1 MB · 14 pages");
});

const item = (id: string, state: string, updated_at: number, more: Partial<Doc> = {}) =>
  ({ id, name: id, title: "", state, updated_at, step: 0, done: 0, total: 0, ...more }) as Doc;
const pagesOf = (...documents: Doc[]): Pages => ({
  pages: [{ documents, next_cursor: null }],
  pageParams: [""],
});
const ids = (shown: Pages) => shown.pages.flatMap((page) => page.documents.map((it) => it.id));

test("a document that fails moves to the front, and leaves a list that is not its own", () => {
  const shown = pagesOf(item("a", "held", 1), item("b", "converting", 2), item("c", "ready", 3));
  expect(ids(putDocument(shown, item("b", "failed", 4), "", ""))).toEqual(["b", "a", "c"]);
  const working = pagesOf(item("b", "converting", 2));
  expect(ids(putDocument(working, item("b", "ready", 4), "working", ""))).toEqual([]);
  expect(ids(putDocument(shown, item("d", "ready", 9), "", "other"))).toEqual(["a", "b", "c"]);
  expect(ids(dropDocument(shown, "b"))).toEqual(["a", "c"]);
});

test("what is under way counts its steps, and what waits counts nothing", () => {
  const half = item("a", "embedding", 1, { step: 3, done: 1, total: 2 });
  expect(shareDone([half], 1, 1)).toBeCloseTo(0.625);
  expect(shareDone([half, item("b", "waiting", 1)], 2, 2)).toBeCloseTo(0.3125);
  expect(shareDone([half, item("c", "ready", 1)], 2, 4)).toBeCloseTo(0.65625);
  expect(shareDone([item("c", "ready", 1)], 0, 0)).toBe(1);
});

test("the progress of a batch falls back only where more is taken in", () => {
  const half = { ...item("a", "embedding", 1), step: 4, done: 30, total: 60 };
  const begun = advanceBatch(NO_BATCH, [half, half], 2);
  const isReady = advanceBatch(begun, [half], 2); // the count is read a second later
  const counted = advanceBatch(isReady, [half], 1);
  const more = advanceBatch(counted, [half, item("b", "waiting", 1), item("c", "waiting", 1)], 3);

  expect(begun.share).toBeCloseTo(0.875);
  expect(isReady).toEqual(begun);
  expect(counted.share).toBeCloseTo(0.9375);
  expect(more.share).toBeLessThan(0.5);
  expect(advanceBatch(more, [], 0)).toEqual(NO_BATCH);
});

test("only files that hold a text are sent, and hidden ones are left out in silence", () => {
  const chosen = [
    { file: new File(["x"], "a.PDF"), path: "shop/a.PDF" },
    { file: new File(["x"], ".DS_Store"), path: "shop/.DS_Store" },
    { file: new File(["x"], "b.exe"), path: "shop/b.exe" },
    { file: new File([], "c.txt"), path: "c.txt" },
    { file: new File(["x"], "d.md"), path: ".git/d.md" },
  ];
  const sorted = sortChosen(chosen);
  expect(sorted.readable.map((one) => one.path)).toEqual(["shop/a.PDF"]);
  expect(sorted.refused).toEqual([
    { name: "shop/b.exe", why: "kind" },
    { name: "c.txt", why: "empty" },
  ]);
});

const NO_PAGES = { total: 0, changed: [], new: [], vanished: [] };
const NO_PASSAGES = { added: 0, removed: 0, changed: 0 };

test.each([
  ["3 of 52 pages changed", { ...NO_PAGES, total: 52, changed: [4, 7], new: [52] }, NO_PASSAGES],
  ["1 page no longer there", { ...NO_PAGES, total: 3, vanished: [4] }, NO_PASSAGES],
  ["4 passages changed", NO_PAGES, { added: 1, removed: 1, changed: 2 }],
  ["The text is the same", { ...NO_PAGES, total: 3 }, NO_PASSAGES],
])("a new version is described: %s", (said, pages, passages) => {
  expect(describeChange({ pages, passages })).toBe(said);
});

test("the pages that changed are named, up to a dozen", () => {
  const numbers = Array.from({ length: 14 }, (_, at) => at + 1);
  expect(changeWords.pageNumbers([4, 7])).toBe("Page 4, 7");
  expect(changeWords.pageNumbers(numbers)).toMatch(/, 12 and 2 more$/);
});

test("what could not be taken in is the whole source, or some of its pages or files", () => {
  const fault = (place: string) => ({ place, code: "request_invalid", message: "No." });
  const told = (source: string, failed: number, place: string) =>
    describeFaults({ source, run: "", ended_at: 1, failed, faults: [fault(place)] });

  expect(told("https://a.example/", 1, "https://a.example/")).toBe(
    "https://a.example/ could not be taken in.",
  );
  expect(told("https://a.example/", 2, "https://a.example/b")).toBe(
    "2 pages of https://a.example/ could not be taken in.",
  );
  expect(told("/srv/docs", 1, "b.md")).toBe("1 file of /srv/docs could not be taken in.");
});

test("a document is seen by those who see its base, or by fewer", () => {
  const wide = { audience: "base", organisation: "" } as const;
  const own = { visibility: "private", organisation: "" } as const;

  expect(describeAudience(wide, own)).toBe("Only you");
  expect(describeAudience(wide, { visibility: "organisation", organisation: "acme" })).toBe(
    "Members of acme",
  );
  expect(describeAudience(wide, { visibility: "global", organisation: "" })).toBe("Everyone");
  expect(describeAudience({ ...wide, audience: "private" }, own)).toBe("Its owner");
});
