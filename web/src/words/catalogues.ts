import { formatCount } from "./format";

/** What the console says about catalogues of others, beside the Market. */
export const catalogues = {
  fromWhere: "From where",
  organisations: "Organisations",
  outside: "Outside catalogues",
  outsideWhat:
    "What others list, outside of this server. Nobody here has reviewed it; look at what it brings before you add it.",
  find: "Find in the catalogues",
  failed: "The catalogues could not be loaded",
  none: "No outside catalogues",
  noneWhy: "The board file names them under marketplaces.",
  noEntryFits: "Nothing in these catalogues fits. Try it in other words.",
  notReviewed: "not reviewed",
  by: (publisher: string) => `by ${publisher}`,
  from: (marketplace: string) => `in ${marketplace}`,
  entries: (count: number) => formatCount(count, "entry").replace("entrys", "entries"),
  status: { ok: "Read", degraded: "Incomplete", failed: "Could not be read" } as Record<
    string,
    string
  >,
  look: "Look at it",
  showMore: "Show more",
  whatItBrings: "What it brings",
  entryFailed: "The entry could not be loaded",
  noEntry: "There is no such entry",
  runsHere: "Starts a program on the server",
  runsThere: (address: string) => `Answers at ${address}`,
  needs: "Needs",
  isSet: "set",
  notSet: "not set",
  warnings: "To know before",
  inBoardFile: "As lines of the board file",
  addIt: "Add it",
  added: (count: number) => `${formatCount(count, "tool")} added`,
  already: "All of it was added already.",
  cannotAdd: "It cannot be added here",
  close: "Close",
} as const;
