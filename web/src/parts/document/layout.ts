// The text of a page of a document, laid out by pieces, blocks and marks. The server counts
// characters; strings here count units of UTF-16, so that offsets are converted once.

import type { DocText, Finding } from "../../api/knowledge";

export type Piece = DocText["pieces"][number];

/** A stretch of the text that is marked: a quote, or words that somebody looks for. */
export interface Mark {
  start: number;
  end: number;
  kind: "quote" | "hit";
}

export interface Section {
  key: string;
  start: number;
  end: number;
  /** Null for text that no piece covers. */
  piece: Piece | null;
  /** Set where the section is a place that is not what it seems. */
  finding: Finding | null;
}

interface Range {
  start: number;
  end: number;
}

export type Block =
  | (Range & { kind: "heading"; level: number })
  | (Range & { kind: "paragraph" | "item" | "code" })
  | (Range & { kind: "table"; rows: Range[][] });

export interface Run {
  text: string;
  isBold: boolean;
  isCode: boolean;
  mark: Mark | null;
}

/** Where a character of a text, counted as the server does, stands in a string. */
export function makeOffsets(text: string): (character: number) => number {
  if (!/[\ud800-\udfff]/.test(text))
    return (character) => Math.min(Math.max(0, character), text.length);
  const units: number[] = [];
  for (let at = 0; at < text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1)
    units.push(at);
  units.push(text.length);
  return (character) => units[Math.min(Math.max(0, character), units.length - 1)] ?? text.length;
}

/** The sections of a page, in order: each piece, what no piece covers, and each finding. */
export function layOutSections(page: DocText): Section[] {
  const offset = makeOffsets(page.text);
  const at = (character: number) => offset(character - page.start);
  const sections: Section[] = [];
  let end = 0;
  const add = (from: number, to: number, piece: Piece | null) => {
    if (page.text.slice(from, to).trim() !== "")
      sections.push({ key: `${from}`, start: from, end: to, piece, finding: null });
    end = Math.max(end, to);
  };
  for (const piece of [...page.pieces].sort((a, b) => a.start - b.start)) {
    const from = Math.max(end, at(piece.start));
    if (from > end) add(end, from, null);
    if (at(piece.end) > from) add(from, at(piece.end), piece);
  }
  add(end, page.text.length, null);
  return page.findings.reduce(
    (all, finding) => splitAt(all, finding, at(finding.start), at(finding.end), page.text),
    sections,
  );
}

function splitAt(
  sections: Section[],
  finding: Finding,
  start: number,
  end: number,
  text: string,
): Section[] {
  let isPlaced = false;
  return sections.flatMap((section) => {
    if (section.finding || end <= section.start || start >= section.end) return [section];
    const from = Math.max(start, section.start);
    const to = Math.min(end, section.end);
    const parts: Section[] = [
      { ...section, end: from },
      { ...section, key: `f${from}`, start: from, end: to, finding: isPlaced ? null : finding },
      { ...section, key: `${to}`, start: to },
    ];
    isPlaced = true;
    return parts.filter((part) => part.finding || text.slice(part.start, part.end).trim() !== "");
  });
}

const HEADING = /^ {0,3}(#{1,6})\s+/;
const ITEM = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+/;
const ROW = /^\s*\|.*\|\s*$/;
const RULE = /^[\s|:-]+$/;
const FENCE = /^ {0,3}(?:```|~~~)/;

/** The headings, paragraphs, items, tables and code of a part of a text. */
export function layOutBlocks(text: string, start: number, end: number): Block[] {
  const blocks: Block[] = [];
  let isCode = false;
  let isOpen = false;
  for (let at = start; at < end; ) {
    const next = text.indexOf("\n", at);
    const stop = next < 0 || next > end ? end : next;
    const line = text.slice(at, stop);
    const last = blocks.at(-1);
    if (FENCE.test(line)) {
      isCode = !isCode;
      if (isCode) blocks.push({ kind: "code", start: stop + 1, end: stop + 1 });
      isOpen = false;
    } else if (isCode && last) {
      last.end = stop;
    } else if (line.trim() === "") {
      isOpen = false;
    } else if (ROW.test(line)) {
      const table = isOpen && last?.kind === "table" ? last : null;
      const rows = RULE.test(line) ? [] : [readCells(text, at, stop)];
      if (table) {
        table.rows.push(...rows);
        table.end = stop;
      } else blocks.push({ kind: "table", start: at, end: stop, rows });
      isOpen = true;
    } else {
      const heading = HEADING.exec(line);
      const item = ITEM.exec(line);
      if (heading) {
        const level = heading[1]?.length ?? 1;
        blocks.push({ kind: "heading", level, start: at + heading[0].length, end: stop });
      } else if (item) {
        blocks.push({ kind: "item", start: at + item[0].length, end: stop });
      } else if (isOpen && last && (last.kind === "paragraph" || last.kind === "item")) {
        last.end = stop;
      } else {
        blocks.push({ kind: "paragraph", start: at, end: stop });
      }
      isOpen = !heading;
    }
    at = stop + 1;
  }
  return blocks.filter((block) => block.end > block.start);
}

function readCells(text: string, start: number, end: number): Range[] {
  const cells: Range[] = [];
  const line = text.slice(start, end);
  const bars = [...line.matchAll(/(?<!\\)\|/g)].map((match) => match.index);
  for (const [index, bar] of bars.entries()) {
    const next = bars[index + 1];
    if (next === undefined) break;
    const inner = line.slice(bar + 1, next);
    const before = inner.length - inner.trimStart().length;
    const from = start + bar + 1 + before;
    cells.push({ start: from, end: from + inner.trim().length });
  }
  return cells;
}

const TOKEN = /\*\*|`/g;

/** A part of a text as runs of one look; `**` and backticks become looks, links stay text. */
export function layOutRuns(
  text: string,
  start: number,
  end: number,
  marks: readonly Mark[],
): Run[] {
  const runs: Run[] = [];
  let isBold = false;
  let isCode = false;
  let at = start;
  const add = (to: number) => {
    const cuts = marks
      .flatMap((mark) => [mark.start, mark.end])
      .filter((cut) => cut > at && cut < to);
    for (const stop of [...new Set([...cuts, to])].sort((a, b) => a - b)) {
      const from = at;
      const mark = marks.find((item) => item.start <= from && item.end >= stop) ?? null;
      if (stop > from) runs.push({ text: text.slice(from, stop), isBold, isCode, mark });
      at = stop;
    }
  };
  for (const match of text.slice(start, end).matchAll(TOKEN)) {
    const token = start + match.index;
    if (isCode && match[0] !== "`") continue;
    add(token);
    if (match[0] === "`") isCode = !isCode;
    else isBold = !isBold;
    at = token + match[0].length;
  }
  add(end);
  return runs;
}

/** The quote of a citation, as a mark of a page; null where the page does not have it. */
export function markQuote(page: DocText, start: number, end: number): Mark | null {
  const offset = makeOffsets(page.text);
  const from = offset(start - page.start);
  const to = offset(end - page.start);
  return to > from && start < page.end && end > page.start
    ? { start: from, end: to, kind: "quote" }
    : null;
}

const MOST_HITS = 200;

/** Where a text, or else one of its words, stands on a page. */
export function findHits(text: string, wanted: string): Mark[] {
  const phrase = wanted.trim();
  if (phrase === "") return [];
  const whole = findAll(text, [phrase]);
  const words = phrase.split(/\s+/).filter((word) => word.length > 2);
  return whole.length > 0 || words.length === 0 ? whole : findAll(text, words);
}

function findAll(text: string, words: readonly string[]): Mark[] {
  const pattern = words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  const found = [...text.matchAll(new RegExp(pattern, "giu"))].slice(0, MOST_HITS);
  return found.map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
    kind: "hit" as const,
  }));
}
