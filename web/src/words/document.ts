import { formatCount, formatNumber } from "./format";

/** What the console says of one document beside its text: what changed, who cites it, who sees it. */
export const documentWords = {
  about: "About this document",
  text: "Text",

  // What changed
  changes: "What changed",
  changesFailed: "What changed could not be loaded",
  noChanges: "It has no such text",
  firstText: "This is its first text",
  firstTextWhy: "Once it is taken in again, what changed stands here.",
  nothingChanged: "Nothing changed",
  nothingChangedWhy: "Both texts say the same, white space aside.",
  pagesChanged: (changed: number, pages: number) =>
    `${formatNumber(changed)} of ${formatCount(pages, "page")} changed`,
  passagesChanged: (count: number) => `${formatCount(count, "passage")} changed`,
  counts: (changed: number, added: number, removed: number) =>
    [
      changed > 0 ? `${formatNumber(changed)} rewritten` : "",
      added > 0 ? `${formatNumber(added)} added` : "",
      removed > 0 ? `${formatNumber(removed)} removed` : "",
    ]
      .filter(Boolean)
      .join(", "),
  comparedWith: "Compared with",
  textOf: (revision: number) => `Text ${formatNumber(revision)}`,
  waitsForReview: "The later text waits for its review. No answer uses it yet.",
  kinds: { added: "Added", removed: "Removed", changed: "Rewritten" } as Record<string, string>,
  before: "Before",
  now: "Now",
  contains: {
    orders: "gives orders",
    hidden: "hidden text",
    link: "a link that could carry data out",
  } as Record<string, string>,
  isCut: "It goes on; open it to read the rest.",

  // Who cites it
  citedIn: (count: number, hasMore = false) =>
    hasMore
      ? `Cited in more than ${formatCount(count, "answer")}`
      : `Cited in ${formatCount(count, "answer")}`,
  citedNowhere: "No answer of yours cites it.",
  showMore: "Show more",
  showAll: (count: number) => `Show all ${formatNumber(count)}`,
  answersFailed: "The answers that cite it could not be loaded",
  touched: (count: number) => `These ${formatNumber(count)} lose its quotes:`,
  touchedOne: "This one loses its quotes:",

  // What is said of it
  settings: "Settings",
  titleField: "Title",
  edition: "Edition (optional)",
  editionHint: "A date as 2026-10-14, or a name that orders editions.",
  replaces: "Replaces",
  replacesNone: "No other document",
  replacesHint: "The older one then answers only when it is asked for.",
  whoSees: "Who sees it",
  everyone: "Everyone who sees the base",
  everyoneWhat: "Answers to all of them may cite it.",
  members: (title: string) => `Members of ${title}`,
  membersWhat: "Of those who see the base. For others it is not there.",
  owner: "Only its owner",
  ownerWhat: "For everybody else it is not there.",
  saved: "Saved.",
} as const;
