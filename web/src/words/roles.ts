import { formatCount } from "./format";

/** What the console says about the roles of an organisation. */
export const roleWords = {
  roles: "Roles",
  rolesFailed: "The roles could not be loaded",
  reads: "Reads",
  newRole: "New role",
  makeRole: "Make the role",
  roleName: "Name",
  roleNameHint: "2 to 31 characters: a to z, 0 to 9, _ and -. It cannot be changed.",
  whatRoles: "What each role may do with each source",
  whatRole: "What a role may do",
  patterns: "By pattern",
  patternHint: "Matches names of tools",
  levels: { none: "None", read: "Read", write: "Write", admin: "Admin" } as Record<string, string>,
  shipped: {
    administrator: "Reads",
    editor: "Reads and writes",
    member: "Reads",
    approver: "Calls nothing",
  } as Record<string, string>,
  every: "Every source",
  everyWhat: "Shipped roles count everywhere",
  in: (role: string, source: string) => `${role} in ${source}`,
  sourceTools: (count: number) => formatCount(count, "tool"),
  changes: (count: number) => formatCount(count, "change"),
  gives: (role: string, source: string, before: string, after: string) =>
    `${role}: ${source} from ${before} to ${after}`,
  holdsAtOnce: "It holds from the next request of each member.",
  discard: "Discard",
  removeRole: (role: string) => `Remove ${role}`,
  removeQuestion: (role: string) => `Remove ${role}?`,
  removeWhat: "Its members lose what it gave them, from the next request on.",
  oneLevel: "A role has a level for at least one source.",
  noSources: "No sources to give levels for yet.",
  ownWhat: "Levels by source",
} as const;
