import type { Base, Doc, Gathering } from "../api/knowledge";
import { formatBytes, formatCount, formatNumber } from "./format";

/** What the console says about bases and their documents. */
export const knowledge = {
  knowledge: "Knowledge",
  base: "Base",
  findBase: "Find a base",
  newBase: "New base",
  makeBase: "Make the base",
  everyones: "Everyone’s",
  sharedWithSome: "Shared with some",
  yours: "Yours",
  basesFailed: "The bases could not be loaded",
  baseFailed: "The base could not be loaded",
  noBase: "There is no such base",
  noBases: "No knowledge yet",
  noBasesWhy: "Put documents in, and answers name their page.",
  noBaseFits: "No base is called so.",
  chooseBase: "Choose a base to see its documents.",
  documents: (count: number) => formatCount(count, "document"),
  empty: "Empty",
  failedTag: (count: number) => `${count} failed`,
  heldTag: (count: number) => `${count} held back`,
  wordsOnly: "words only",
  baseName: "Name",
  baseNameHint: "Letters, digits, _ and -. Agents ask the base by this name.",
  whatFor: "What can be asked of it (optional)",
  titleField: "Title (optional)",
  cannotChange: "The board file declares it. What it says there holds.",

  // One base
  aboutBase: "About this base",
  askIt: "Ask it",
  takeInChanged: "Take in what changed",
  nothingToLook: "Its documents were uploaded here. To take in a change, add the file again.",
  onlyYou: "Only you",
  everybody: "Everyone on this board",
  membersOf: (organisation: string) => `Members of ${organisation}`,
  piecesReady: (count: number) => `${formatCount(count, "piece")} ready`,
  byWords: "By words only",
  byBoth: "By words and by meaning",
  worksByWords: "Works by words only.",
  worksByWordsWhy:
    "No embedding model is set for this base, so a question finds only pieces that share its words: “give back” does not find “return”.",
  embedsAnew: (share: number) => `Embedding anew, ${share}%.`,
  embedsAnewWhy: "The old model answers until then.",
  docs: "Documents",
  ask: "Ask",
  whoMaySee: "Who may see it",
  settings: "Settings",

  // Adding
  add: "Add documents",
  dropHere: "Drop files or a folder here",
  letGo: (base: string) => `Let go to add them to ${base}`,
  kinds: "PDF, Word, PowerPoint, Excel, HTML, text, CSV, pictures.",
  noDocuments: "No documents yet",
  noDocumentsWhy:
    "A base answers from what you put into it, and names the page it stands on. Drop files or a folder here.",
  chooseFiles: "Choose files",
  folder: "Folder",
  webAddress: "Web address",
  howMuch: "How much of it",
  thisPage: "This page",
  andBelow: "And the pages below it, at most",
  addIt: "Add",
  gathers: (source: string) =>
    `Looking through ${source}. Each document appears below as it comes.`,
  openRun: "Open the run",
  moreFaults: (count: number) => `and ${formatNumber(count)} more`,
  howFar: "See how far it is",
  alreadyHere: "Already here",
  openIt: "Open it",

  // Uploads
  uploading: "Uploading",
  uploaded: (done: number, all: number) =>
    `${formatBytes(done)} of ${formatBytes(all)}, resumes by itself`,
  waitsToUpload: "Waits for its turn",
  reading: "Reading the file",
  uploadFailed: "Could not be uploaded",
  chooseAgain: (name: string, from: number) =>
    `Choose ${name} again to go on from ${formatBytes(from)}.`,
  chooseFile: "Choose the file",
  interrupted: "Interrupted",
  anotherFile: "This is another file: its name or size differs.",
  dismiss: "Dismiss",
  notSent: (names: readonly string[]) =>
    `No text comes out of ${names.slice(0, 3).join(", ")}${names.length > 3 ? ` and ${names.length - 3} more` : ""}: not sent.`,
  youCanLeave: "You can leave: the work goes on.",
  stop: "Stop",
  uploads: "Uploads",
  emptyFile: "The file is empty.",

  // States
  state: "State",
  pieces: "Pieces",
  addedSeenBy: "Added, seen by",
  action: "Action",
  failed: "Could not be read",
  held: "Held back",
  waiting: "Waiting",
  nextInLine: "Waits for its turn",
  converting: "Converting",
  cutting: "Cutting",
  embedding: "Embedding",
  storing: "Storing",
  ready: "Ready",
  replaced: "Replaced",
  replacedWhy: "A newer edition answers in its place.",
  oldAnswers: "The old pieces answer until then.",
  pageOf: (done: number, total: number) => `Page ${formatNumber(done)} of ${formatNumber(total)}`,
  piecesOf: (done: number, total: number) =>
    `${formatNumber(done)} of ${formatCount(total, "piece")}`,
  stepOf: (step: number) => `Step ${step} of 4`,
  everyone: "Everyone",
  ownerOnly: "Its owner",
  needsYou: (count: number) => `Needs you ${count}`,
  underWay: (count: number) => `Under way ${count}`,
  readyCount: (count: number) => `Ready ${count}`,
  takingIn: (count: number) => `Taking in ${formatCount(count, "document")}`,
  takenIn: "Taken in",
  documentsFailed: "The documents could not be loaded",
  noneOfState: "No document is this far.",
  document: "Document",
  tryAgain: "Try again",
  review: "Review",
  moreFor: (name: string) => `More for ${name}`,
  open: "Open",
  takeInAgain: "Take in again",
  deleteForGood: "Delete for good",
  showMore: "Show more",
  because: {
    encrypted: "It is encrypted. Take the password off, and add it again.",
    empty: "It has no text.",
    broken: "The file is broken.",
    too_large: "Unpacked, it is too large.",
    wrong_type: "It is not what its name says.",
    no_vision: "Its pages are pictures, and no vision model is set.",
  } as Record<string, string>,

  // Deleting
  deleteQuestion: (title: string) => `Delete “${title}” for good?`,
  deleting: "Deleting",
  beingDeleted: "Being deleted",
  isBeingDeleted: "This knowledge base is being deleted.",
  isBeingDeletedWhy:
    "It takes in nothing more. A deletion that fails, as while an answer still reads a document, is tried again by itself.",
  deleteNow: "Try again now",
  theFile: "The file",
  theFiles: (count: number) => formatCount(count, "document"),
  withText: (bytes: number) => `${formatBytes(bytes)}, with the text taken from it`,
  piecesGo: (count: number) => formatCount(count, "piece"),
  piecesGoWhat: "Their words and their vectors",
  results: (count: number) => formatCount(count, "kept result"),
  resultsWhat: "In the store and the cache: what quotes it",
  answers: (count: number) => formatCount(count, "answer"),
  answersWhat: "They stay, without its quotes, and say so",
  cannotUndo: "No question finds it from now on. This cannot be undone.",
  keepIt: "Keep it",
  typeName: (name: string) => `Type ${name} to delete the base`,
  deleteBase: "Delete this base",
  deleteBaseWhat: "All its documents go, with their pieces and what was kept of them.",
  deletionFailed: "What goes could not be counted",

  // Reviewing
  givesOrders: (name: string) => `“${name}” gives orders to a model`,
  hides: (name: string) => `“${name}” hides text`,
  carriesOut: (name: string) => `“${name}” could carry data out`,
  noAnswerUses:
    "No answer uses this document until you decide. Whatever you choose, a model gets it as data, marked as such.",
  heldUntil: "No answer uses it until somebody decides.",
  leaveOut: "Leave that place out",
  leaveAllOut: "Leave those places out",
  andMore: (count: number) => `and ${formatCount(count, "more place")}`,
  leaveOutWhat: "The rest answers from now on",
  useAsText: "Use it as text",
  useAsTextWhat: "All of it answers; the mark stays",
  deleteIt: "Delete the document",
  deleteItWhat: "Shows first what goes",
  page: (page: number) => `Page ${page}`,
  noFindings: "There is nothing to decide any more.",
  close: "Close",
} as const;

/** Who sees a base: "Only you", "Members of acme". */
export function describeViewers(base: Pick<Base, "visibility" | "organisation">): string {
  if (base.visibility === "global") return knowledge.everybody;
  return base.visibility === "private" ? knowledge.onlyYou : knowledge.membersOf(base.organisation);
}

/** Who sees a document of a base: those who see the base, or fewer. */
export function describeAudience(
  item: Pick<Doc, "audience" | "organisation">,
  base: Pick<Base, "visibility" | "organisation">,
): string {
  if (item.audience === "private") return knowledge.ownerOnly;
  if (item.audience === "organisation") return item.organisation;
  return base.visibility === "global" ? knowledge.everyone : describeViewers(base);
}

/** "docs/ could not be taken in.", "2 pages of https://example.com could not be taken in." */
export function describeFaults({ source, failed, faults }: Gathering): string {
  const isWhole = faults.some((fault) => fault.place === source);
  const noun = /^https?:/.test(source) ? "page" : "file";
  return `${isWhole ? "" : `${formatCount(failed, noun)} of `}${source} could not be taken in.`;
}

const TYPES: [RegExp, string][] = [
  [/pdf/, "PDF"],
  [/wordprocessing|msword/, "Word"],
  [/presentation|powerpoint/, "PowerPoint"],
  [/spreadsheet|ms-excel/, "Excel"],
  [/html/, "Web page"],
  [/markdown/, "Markdown"],
  [/csv/, "CSV"],
  [/^image\//, "Picture"],
  [/^text\//, "Text"],
];

/** "PDF", "Word"; the end of the name where the type says nothing. */
export function typeName(mediaType: string, name: string): string {
  const known = TYPES.find(([pattern]) => pattern.test(mediaType));
  const [, ending = ""] = /\.(\w{1,8})$/.exec(name) ?? [];
  return known?.[1] ?? ending.toUpperCase();
}

/** "PDF · 8.1 MB · 14 pages"; the name of the file first where the document has a title. */
export function describeFile(item: {
  media_type: string;
  name: string;
  size: number;
  pages: number;
  title?: string;
}): string {
  const parts = [
    item.title && item.title !== item.name ? item.name : "",
    typeName(item.media_type, item.name),
    item.size > 0 ? formatBytes(item.size) : "",
    item.pages > 1 ? formatCount(item.pages, "page") : "",
  ];
  return parts.filter(Boolean).join(" · ");
}
