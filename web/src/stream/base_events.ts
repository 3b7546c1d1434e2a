// What the events of a base change of the documents that are shown.

import type { Doc, StateFilter } from "../api/knowledge";

interface Page {
  documents: Doc[];
  next_cursor: string | null;
}

export interface Pages {
  pages: Page[];
  pageParams: unknown[];
}

/** How far a document is, as the filters name it. */
export function groupOf(item: Pick<Doc, "state">): StateFilter {
  switch (item.state) {
    case "failed":
    case "held":
    case "ready":
      return item.state;
    default:
      return "working";
  }
}

/** Whether a document has a text: a ready one, or one that is held back for what its text says. */
export const canRead = (item: Pick<Doc, "state" | "revision">): boolean =>
  item.revision > 0 || item.state === "held";

const ORDER: StateFilter[] = ["failed", "held", "working", "ready"];

/** The documents with one that was added or changed: in its place, the worst first. */
export function putDocument(shown: Pages, item: Doc, state: string, text: string): Pages {
  const all = shown.pages.flatMap((page) => page.documents).filter((it) => it.id !== item.id);
  const words = `${item.name} ${item.title}`.toLowerCase();
  const isWanted =
    (state === "" || groupOf(item) === state) && words.includes(text.trim().toLowerCase());
  return layOut(shown, isWanted ? sortDocuments([...all, item]) : all);
}

/** The documents without one that was deleted. */
export function dropDocument(shown: Pages, id: string): Pages {
  return layOut(
    shown,
    shown.pages.flatMap((page) => page.documents).filter((item) => item.id !== id),
  );
}

/** Failed, held back, under way, then ready; the last changed first, those that wait at the end. */
export function sortDocuments(documents: readonly Doc[]): Doc[] {
  const rank = (item: Doc) => ORDER.indexOf(groupOf(item)) * 2 + Number(item.state === "waiting");
  return [...documents].sort((a, b) => rank(a) - rank(b) || b.updated_at - a.updated_at);
}

/** All documents on the first page; the cursor is that of the last one. */
function layOut(shown: Pages, documents: Doc[]): Pages {
  const next_cursor = shown.pages.at(-1)?.next_cursor ?? null;
  return { pages: [{ documents, next_cursor }], pageParams: shown.pageParams.slice(0, 1) };
}

/** What is shown of all that is taken in together: how many there were at most, and how far they are, 0 to 1. */
export interface Batch {
  most: number;
  share: number;
}

export const NO_BATCH: Batch = { most: 0, share: 0 };

/**
 * How far a batch is now, of which `shown` was shown before.
 *
 * The list of documents is newer than `count` for a moment, so that the share falls only where more is taken in
 * than before.
 */
export function advanceBatch(shown: Batch, documents: readonly Doc[], count: number): Batch {
  if (count === 0) return NO_BATCH;
  const most = Math.max(count, shown.most);
  const share = shareDone(documents, count, most);
  return { most, share: most > shown.most ? share : Math.max(share, shown.share) };
}

/**
 * How far all that is taken in is, 0 to 1.
 *
 * `documents` are those that are listed; `count` are under way now, and `most` were before some became ready.
 */
export function shareDone(documents: readonly Doc[], count: number, most: number): number {
  if (most === 0) return 1;
  const working = documents.filter((item) => groupOf(item) === "working");
  const parts = working.map((item) => {
    const steps = Math.max(0, item.step - 1);
    return (steps + (item.total > 0 ? Math.min(1, item.done / item.total) : 0)) / 4;
  });
  const begun = parts.reduce((sum, part) => sum + part, 0);
  return Math.min(1, (most - count + begun) / most);
}
