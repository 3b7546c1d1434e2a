// Where two versions of a passage differ: what they share at both ends is left out.

export interface Difference {
  /** Characters that both begin with. */
  head: number;
  /** Characters that both end with, behind that. */
  tail: number;
}

/** What two texts share at their beginning and at their end, in whole words. */
export function findDifference(before: string, after: string): Difference {
  const old = before.split(/(\s+)/);
  const now = after.split(/(\s+)/);
  const most = Math.min(old.length, now.length);
  let first = 0;
  while (first < most && old[first] === now[first]) first++;
  let last = 0;
  while (last < most - first && old[old.length - 1 - last] === now[now.length - 1 - last]) last++;
  const lengthOf = (words: string[]) => words.reduce((sum, word) => sum + word.length, 0);
  return {
    head: lengthOf(old.slice(0, first)),
    tail: lengthOf(old.slice(old.length - last)),
  };
}
