import { formatCount, formatNumber } from "./format";

/** What the console says about questions, quotes, and the text of a document. */
export const evidence = {
  // A document
  documentFailed: "The document could not be loaded",
  noDocument: "There is no such document",
  wasDeleted: "This document was deleted.",
  deletedDocument: "A deleted document",
  whereYouAre: "Where you are",
  download: "Download",
  more: "More",
  facts: (pages: number, pieces: number) =>
    [pages > 0 ? formatCount(pages, "page") : "", formatCount(pieces, "piece")]
      .filter(Boolean)
      .join(", "),
  addedBy: (when: string, who: string) => `Added ${when}${who ? ` by ${who}` : ""}`,
  edition: (edition: string) => `Edition ${edition}`,
  viewOf: "Text or picture",
  showEarlier: "Show what comes before",
  showMore: "Show more",
  findHere: "Find on this page",
  asText: "Text",
  asPicture: "Picture",
  pictureOf: (page: number) => `Page ${page} as a picture`,
  noPicture: "There is no picture of this page.",
  previousPage: "Previous page",
  nextPage: "Next page",
  pageOf: (page: number, pages: number, label: string) =>
    `Page ${formatNumber(page)} of ${formatNumber(pages)}${label ? `, ${label}` : ""}`,
  hitOf: (at: number, all: number) => `${at} of ${all}`,
  previousHit: "Previous hit",
  nextHit: "Next hit",
  noHitHere: "not on this page",
  textFailed: "The text could not be loaded",
  noText: "Its text is not there yet.",
  earlierText: "This quote is from an earlier text of the document.",
  todaysText: "Show the text of now",
  pieceNumber: (number: number) => `Piece ${number}`,
  citedPiece: (number: number) => `Piece ${number}, cited`,
  piecesHere: "Pieces on this page",
  piecesOf: (here: number, all: number) => `${here} of ${formatNumber(all)}`,
  heading: "Heading",
  place: "Place",
  characters: (start: number, end: number) =>
    `Characters ${formatNumber(start)} to ${formatNumber(end)}`,
  range: (start: number, end: number) => `${formatNumber(start)} to ${formatNumber(end)}`,
  citedQuote: "Cited quote",
  untitled: "No heading",
  gap: (count: number) => `${formatCount(count, "place")} did not come out of the file`,
  wholeDocument: "The document",
  contains: {
    orders: "This document contains text that gives orders.",
    hidden: "This document contains hidden text.",
    link: "This document contains a link that could carry data out.",
  } as Record<string, string>,
  placesOn: (count: number, page: number) =>
    `${formatCount(count, "place")}${page > 0 ? `, the first on page ${page}` : ""}.`,
  showIt: "Show it",
  showInText: "Show in the text",
  finding: {
    orders: "Text that gives orders",
    hidden: "Hidden text",
    link: "A link that could carry data out",
  } as Record<string, string>,
  isLeftOut: "Answers leave this out.",
  isUsed: "It is used as text, marked as data.",
  useAsText: "Use it as text",
  leaveOut: "Leave it out",

  // Ask
  questions: "Questions",
  newQuestion: "New question",
  question: "Question",
  askHint: "What do you want to know?",
  askIt: "Ask",
  mode: "Mode",
  grounded: "Grounded",
  simple: "Simple",
  groundedWhat: "Checks each quote, and says when it is not enough",
  simpleWhat: "Lists the best pieces",
  asWho: (who: string) => `as ${who}`,
  asking: "Looking it up",
  asksFailed: "Your questions could not be loaded",
  askFailed: "The answer could not be loaded",
  noAsk: "There is no such question",
  noAsks: "You have not asked yet",
  noAsksWhy: "A question shows which pieces answer it, and whether they are enough.",
  couldNotAsk: "The question could not be answered",
  enough: "Enough evidence",
  disagrees: "Evidence that disagrees",
  notEnough: "Not enough evidence",
  found: "What was found",
  foundNothing: "Nothing was found",
  failed: "The search failed",
  quotes: (count: number, time: string) =>
    `${formatCount(count, "quote")}, ${count === 1 ? "it stands" : "each stands"} word for word in its piece · ${time}`,
  nothingQuoted: (time: string) =>
    `Nothing found supports an answer, so nothing is quoted · ${time}`,
  piecesFound: (count: number, time: string) => `${formatCount(count, "piece")} · ${time}`,
  twoDisagree: "These two disagree",
  twoDisagreeSub: "Two disagree",
  citedSub: (count: number, confidence: string) => `${count} cited, confidence ${confidence}`,
  judges: {
    model: "judged by the model",
    figures: "by their figures",
    dates: "by their dates",
    names: "by their names",
    negation: "one says no",
  } as Record<string, string>,
  neither: "Neither is chosen for you. An answer names both, with their editions.",
  openPage: (page: number) => (page > 0 ? `Open page ${page}` : "Open the document"),
  pageNumber: (page: number) => `page ${page}`,
  confidence: "Confidence",
  howWell: "how well it is supported",
  tooLittle: "too little to answer",
  retrieval: "Retrieval",
  alignment: "Alignment",
  coverage: "Coverage",
  bestThree: (weight: number, value: string) => `${weight} × ${value}, best 3`,
  partsFound: (value: string, found: number, all: number) =>
    `0.2 × ${value}, ${found} of ${formatCount(all, "part")}`,
  enoughFrom: (value: string) => `Enough from ${value}`,
  evidence: "Evidence",
  nearest: "Nearest text",
  notCited: "Not cited",
  ofCited: (cited: number, all: number) => `${cited} of ${formatCount(all, "piece")} cited`,
  scores: "Scores from 0 to 1",
  stages: {
    words: "By words",
    meaning: "By meaning",
    fused: "Fused",
    rerank: "Reranked",
    alignment: "Alignment",
  } as Record<string, string>,
  notFound: "not found",
  supports: "Supports",
  inPart: "Supports in part",
  doesNotSay: "Does not say",
  open: "Open",
  unused: (count: number) =>
    count === 1
      ? "1 more was found and not cited"
      : `${formatNumber(count)} more were found and not cited`,
  lookedAt: "What was looked at",
  searched: "Searched",
  searchedWhat: (pieces: number, documents: number, stages: string) =>
    `${formatCount(pieces, "piece")} of ${formatCount(documents, "document")}, ${stages}`,
  byWords: "by words",
  byBoth: "by words and by meaning",
  skipped: {
    meaning: "The embedding model failed.",
    rerank: "The reranker failed: this is the order without it.",
  } as Record<string, string>,
  notSearched: "Not searched",
  notReady: (count: number) =>
    count === 1 ? "1 document that is not ready" : `${count} documents that are not ready`,
  partFound: (count: number) =>
    count === 0 ? "No piece speaks of it" : formatCount(count, "quote"),
  seeThem: "See them",
  leftOut: (count: number) =>
    count === 1
      ? "1 quote was not found and left out"
      : `${formatNumber(count)} quotes were not found and left out`,

  // Citations in a chat
  source: (number: number) => `Source ${number}`,
  sourceOf: (number: number, title: string, page: number) =>
    `Source ${number}: ${title}${page > 0 ? `, page ${page}` : ""}`,
  sources: "Sources",
  checked: (count: number) => `${formatCount(count, "quote")} checked against the stored text`,
  openDocument: "Open the document",
  closeSource: "Close the source",
  says: (number: number) => `Source ${number} says otherwise`,
  about: (about: string) => `: ${about}`,
  compare: "Compare",
  quote: "Quote",
  wordForWord: "Checked, word for word",
  previous: "Previous",
  next: "Next",
  conflict: (first: number, second: number) => `Conflict between ${first} and ${second}`,
} as const;

/** "0.84". */
export function formatScore(value: number): string {
  return value.toFixed(2);
}
