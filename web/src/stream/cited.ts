// Which numbers of an answer are quotes, and where the contradictions between them stand.

import type { Citation, Conflict } from "../api/knowledge";

interface Cited {
  id: string;
  citations?: readonly Citation[];
  conflicts?: readonly Conflict[];
}

/** The contradictions behind each paragraph: where both of its numbers have been met. */
export function placeConflicts(
  paragraphs: readonly string[],
  conflicts: readonly Conflict[],
): Conflict[][] {
  const met = new Set<number>();
  let left = [...conflicts];
  return paragraphs.map((paragraph) => {
    for (const match of paragraph.matchAll(NUMBER)) met.add(Number(match[1]));
    const here = left.filter((item) => met.has(item.first) && met.has(item.second));
    left = left.filter((item) => !here.includes(item));
    return here;
  });
}

const NUMBER = /\[(\d{1,3})\]/g;

export type TextPart = { text: string; number: number | null };

/** A text with its numbers apart. */
export function splitNumbers(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const match of text.matchAll(NUMBER)) {
    if (match.index > end) parts.push({ text: text.slice(end, match.index), number: null });
    parts.push({ text: match[0], number: Number(match[1]) });
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push({ text: text.slice(end), number: null });
  return parts;
}

/** The quote that an address names: of one answer, or of the last one that has its number. */
export function findSource<Answer extends Cited>(
  answers: readonly Answer[],
  number: number,
  of: string,
): { answer: Answer; citation: Citation } | null {
  for (const answer of [...answers].reverse()) {
    if (of && answer.id !== of) continue;
    const citation = answer.citations?.find((item) => item.number === number);
    if (citation) return { answer, citation };
  }
  return null;
}

/** The numbers that a quote is contradicted by. */
export function listAgainst(conflicts: readonly Conflict[], number: number): Conflict[] {
  return conflicts.filter((item) => item.first === number || item.second === number);
}

/** Whether a call asks a base, so that numbers in the answer are quotes. */
export function asksBase(tool: string): boolean {
  return /(^|__)(kb_retrieve|grounded_retrieve|kb_open|kb_grep|kb_around)$/.test(tool);
}
