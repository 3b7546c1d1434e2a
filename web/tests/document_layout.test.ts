import { expect, test } from "vitest";
import type { DocText } from "../src/api/knowledge";
import {
  findHits,
  layOutBlocks,
  layOutRuns,
  layOutSections,
  markQuote,
} from "../src/parts/document/layout";

const TEXT =
  "# Returns\n\nA record comes back within **30 days**.\n\n| Kind | Pays |\n|---|---|\n| LP | all |\n";

function pageOf(text: string, more: Partial<DocText> = {}): DocText {
  return {
    document: "d",
    revision: 1,
    current_revision: 1,
    next_offset: null,
    page: 2,
    pages: 3,
    label: "",
    start: 100,
    end: 100 + [...text].length,
    text,
    pieces: [],
    findings: [],
    ...more,
  };
}

const piece = (number: number, start: number, end: number) => ({
  id: `p${number}`,
  number,
  start,
  end,
  page: 2,
  heading: "",
});

test("a page is cut at its pieces, and what no piece covers stays", () => {
  const page = pageOf("aaa bbb ccc", { pieces: [piece(2, 108, 111), piece(1, 100, 104)] });
  const shown = layOutSections(page).map((item) => [
    item.piece?.number ?? 0,
    page.text.slice(item.start, item.end),
  ]);
  expect(shown).toEqual([
    [1, "aaa "],
    [0, "bbb "],
    [2, "ccc"],
  ]);
});

test("a piece that begins on the page before is cut at the page", () => {
  const page = pageOf("end. Next", { pieces: [piece(1, 40, 104), piece(2, 104, 300)] });
  expect(layOutSections(page).map((item) => [item.start, item.end])).toEqual([
    [0, 4],
    [4, 9],
  ]);
});

test("a finding stands apart within its piece", () => {
  const finding = {
    kind: "orders" as const,
    start: 104,
    end: 108,
    page: 2,
    reason: "",
    text: "obey",
    is_left_out: true,
  };
  const page = pageOf("one obey two", { pieces: [piece(1, 100, 112)], findings: [finding] });
  const shown = layOutSections(page).map((item) => [
    item.finding !== null,
    page.text.slice(item.start, item.end),
  ]);
  expect(shown).toEqual([
    [false, "one "],
    [true, "obey"],
    [false, " two"],
  ]);
});

test("characters beyond the first plane do not move a quote", () => {
  const page = pageOf("🎵🎵 Records come back.");
  const mark = markQuote(page, 103, 110);
  expect(mark && page.text.slice(mark.start, mark.end)).toBe("Records");
});

test("a quote of another page is no mark", () => {
  expect(markQuote(pageOf("short"), 300, 310)).toBeNull();
});

test("headings, paragraphs and tables are told apart, with their places", () => {
  const blocks = layOutBlocks(TEXT, 0, TEXT.length);
  expect(blocks.map((block) => block.kind)).toEqual(["heading", "paragraph", "table"]);
  const [heading, , table] = blocks;
  expect(TEXT.slice(heading?.start, heading?.end)).toBe("Returns");
  const rows = table?.kind === "table" ? table.rows : [];
  expect(rows.map((row) => row.map((cell) => TEXT.slice(cell.start, cell.end)))).toEqual([
    ["Kind", "Pays"],
    ["LP", "all"],
  ]);
});

test("a mark across bold text stays one quote, without the asterisks", () => {
  const from = TEXT.indexOf("comes");
  const to = TEXT.indexOf(".\n");
  const marks = [{ start: from, end: to, kind: "quote" as const }];
  const paragraph = layOutBlocks(TEXT, 0, TEXT.length)[1];
  const runs = layOutRuns(TEXT, paragraph?.start ?? 0, paragraph?.end ?? 0, marks);
  expect(runs.map((run) => [run.text, run.isBold, run.mark !== null])).toEqual([
    ["A record ", false, false],
    ["comes back within ", false, true],
    ["30 days", true, true],
    [".", false, false],
  ]);
});

test("a phrase is looked for whole, and else by its words", () => {
  expect(findHits("Return it. No returns.", "return it")).toHaveLength(1);
  expect(findHits("Return it. No returns.", "return policy")).toHaveLength(2);
  expect(findHits("a (b", "(b")).toHaveLength(1);
});
