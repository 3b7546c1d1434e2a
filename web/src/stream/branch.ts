// Which exchanges of a conversation are shown, and which of them can be changed.

import type { Exchange } from "../api/queries";

/** States of messages that no answer of their own belongs to. */
const NOT_ANSWERED = new Set<Exchange["state"]>(["withdrawn", "steered"]);

/** The exchanges that lead to the last message, the first one first; then those that wait. */
export function findBranch(exchanges: readonly Exchange[], head: string): Exchange[] {
  const known = new Map(exchanges.map((item) => [item.id, item]));
  const branch: Exchange[] = [];
  for (let at = known.get(head); at && branch.length <= exchanges.length; at = known.get(at.parent))
    branch.unshift(at);
  const waiting = exchanges.filter((item) => item.state === "queued" && !branch.includes(item));
  return [...branch, ...waiting];
}

/** The last exchange that is answered, as the server finds the one that can be replaced. */
export function findLastAnswered(branch: readonly Exchange[]): Exchange | undefined {
  return branch.findLast((item) => !NOT_ANSWERED.has(item.state));
}
