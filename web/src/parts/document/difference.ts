// Where two versions of a passage differ, word by word.

export interface Words {
  text: string;
  /** Whether only this version says it. */
  isOwn: boolean;
}

/** Two versions, each as runs of words that both say, and that only it says. */
export function findDifference(before: string, after: string): { before: Words[]; after: Words[] } {
  const old = splitWords(before);
  const now = splitWords(after);
  const shared = findShared(old, now);
  return {
    before: joinRuns(old, new Set(shared.map(([at]) => at))),
    after: joinRuns(now, new Set(shared.map(([, at]) => at))),
  };
}

/** Words that two long versions have in the middle are not looked for: it would cost too much. */
const MOST_PAIRS = 250_000;

/** Each word with the space behind it. */
function splitWords(text: string): string[] {
  return text.match(/\s+|\S+\s*/g) ?? [];
}

/** Pairs of places of words that both have, in the same order: as many as there are. */
function findShared(old: readonly string[], now: readonly string[]): [number, number][] {
  const isSame = (a: number, b: number) => old[a]?.trim() === now[b]?.trim();
  const shared: [number, number][] = [];
  let first = 0;
  while (first < Math.min(old.length, now.length) && isSame(first, first))
    shared.push([first, first++]);
  let end = old.length;
  let stop = now.length;
  while (end > first && stop > first && isSame(end - 1, stop - 1)) shared.push([--end, --stop]);
  const width = stop - first + 1;
  if ((end - first) * (stop - first) > MOST_PAIRS) return shared;
  // How many words the rest of both shares, from each pair of places on.
  const counts = new Uint32Array((end - first + 1) * width);
  const at = (a: number, b: number) => (a - first) * width + (b - first);
  const countOf = (a: number, b: number) => counts[at(a, b)] ?? 0;
  for (let a = end - 1; a >= first; a--)
    for (let b = stop - 1; b >= first; b--)
      counts[at(a, b)] = isSame(a, b)
        ? countOf(a + 1, b + 1) + 1
        : Math.max(countOf(a + 1, b), countOf(a, b + 1));
  for (let a = first, b = first; a < end && b < stop; )
    if (isSame(a, b)) shared.push([a++, b++]);
    else if (countOf(a + 1, b) >= countOf(a, b + 1)) a++;
    else b++;
  return shared;
}

function joinRuns(words: readonly string[], shared: ReadonlySet<number>): Words[] {
  const runs: Words[] = [];
  words.forEach((text, at) => {
    const isOwn = !shared.has(at);
    const last = runs.at(-1);
    if (last?.isOwn === isOwn) last.text += text;
    else runs.push({ text, isOwn });
  });
  return runs;
}
