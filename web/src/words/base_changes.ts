import { formatCount, formatNumber } from "./format";

/** What the console says about a file that takes the place of a document, and about another model. */
export const changeWords = {
  // A file in place of a document
  comparing: "Comparing it with the one that is here",
  changedSince: "New version",
  replaceIt: "Replace",
  replaceAll: (count: number) => `Replace all ${formatNumber(count)}`,
  keepOld: "Keep the old one",
  keepAll: "Keep the old ones",
  waitsForYou: "Waits for your decision",
  deletedAt: (when: string) => `Deleted on ${when} unless you decide`,
  discard: "Discard",
  discardAll: "Discard them",
  filesWait: (count: number) => `${formatCount(count, "file")} wait for your decision.`,
  takeIn: "Take it in",
  takeInAll: (count: number) => `Take in all ${formatNumber(count)}`,
  takeInQuestion: (name: string) => `Take in “${name}”?`,
  isNew: "No document of this base has its path.",
  isHere: (title: string) => `The base has this file already, as “${title}”.`,
  seeChange: "See what changes",
  filesDiffer: (count: number) => `${formatCount(count, "file")} would replace documents.`,
  replaceQuestion: (title: string) => `Replace “${title}”?`,
  pagesChanged: (count: number, total: number) =>
    `${formatNumber(count)} of ${formatCount(total, "page")} changed`,
  pagesNew: (count: number) => `${formatNumber(count)} new ${count === 1 ? "page" : "pages"}`,
  pagesGone: (count: number) => `${formatCount(count, "page")} no longer there`,
  passagesChanged: (count: number) => `${formatCount(count, "passage")} changed`,
  passagesWhat: (added: number, removed: number, changed: number) =>
    (
      [
        [added, "added"],
        [removed, "taken out"],
        [changed, "reworded"],
      ] as const
    )
      .filter(([count]) => count > 0)
      .map(([count, what]) => `${formatNumber(count)} ${what}`)
      .join(", "),
  sameText: "The text is the same",
  sameTextWhat: "Only the file differs",
  pageNumbers: (numbers: readonly number[]) =>
    `Page ${numbers.slice(0, 12).map(formatNumber).join(", ")}${numbers.length > 12 ? ` and ${formatNumber(numbers.length - 12)} more` : ""}`,
  embeddedAnew: (count: number, total: number) =>
    `${formatNumber(count)} of ${formatCount(total, "piece")} embedded anew`,
  embeddedWhat: "The others keep their vectors",
  placesHeld: (count: number) => `${formatCount(count, "place")} to review first`,
  placesHeldWhat: "The text that is here answers until somebody decides",
  oldTextStays: "The text that is here answers until the new one is ready.",

  // How it is searched
  searchedBy: "How it is searched",
  boardsModel: "With the model of the board",
  boardsModelWhat: "By words, and by meaning where the board has an embedding model",
  ownModel: "With another model",
  ownModelWhat: "By words, and by meaning with one that the board file names",
  wordsAlone: "By words only",
  wordsAloneWhat: "Nothing is sent to an embedding model",
  modelName: "Name of the embedding model",
  modelNameHint: "As models.named of the board file calls it.",
  embedsAgain: "All documents are embedded again. The old model answers until then.",
} as const;

interface Difference {
  pages: { total: number; changed: unknown[]; new: unknown[]; vanished: unknown[] };
  passages: { added: number; removed: number; changed: number };
}

/** "3 of 52 pages changed"; of a format without pages the passages. */
export function describeChange({ pages, passages }: Difference): string {
  const count = pages.changed.length + pages.new.length;
  if (count > 0) return changeWords.pagesChanged(count, pages.total);
  if (pages.vanished.length > 0) return changeWords.pagesGone(pages.vanished.length);
  const all = passages.added + passages.removed + passages.changed;
  return all > 0 ? changeWords.passagesChanged(all) : changeWords.sameText;
}
