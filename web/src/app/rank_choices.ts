/** What the palette offers. */
export interface Choice {
  key: string;
  name: string;
  hint: string;
  /** What is searched, in small letters. */
  text: string;
  go: () => void;
}

/** How well a choice fits: it begins so, a word of it does, or it only contains it; -1 for not at all. */
function fit(text: string, wanted: string): number {
  const at = text.indexOf(wanted);
  if (at <= 0) return at;
  return ` ${text.replaceAll(/[_-]/g, " ")}`.includes(` ${wanted}`) ? 1 : 2;
}

/**
 * At most so many choices that fit, kind by kind: the kind with the best one first.
 *
 * No kind takes the room of another: of thousands of tools and chats, some of each are shown.
 */
export function rankChoices(
  kinds: readonly (readonly Choice[])[],
  text: string,
  most: number,
): Choice[] {
  const wanted = text.trim().toLowerCase();
  const found = kinds
    .map((kind) =>
      kind
        .map((choice) => ({ choice, rank: fit(choice.text, wanted) }))
        .filter(({ rank }) => rank >= 0)
        .sort((one, other) => one.rank - other.rank),
    )
    .filter((kind) => kind.length > 0);
  if (wanted !== "") found.sort((one, other) => (one[0]?.rank ?? 0) - (other[0]?.rank ?? 0));
  const shown: Choice[] = [];
  for (const [index, kind] of found.entries()) {
    const share = Math.floor(most / found.length);
    const later = found
      .slice(index + 1)
      .reduce((sum, rest) => sum + Math.min(share, rest.length), 0);
    const room = most - shown.length - later;
    shown.push(...kind.slice(0, room).map(({ choice }) => choice));
  }
  return shown;
}
