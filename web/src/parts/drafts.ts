// What was written and not sent yet. It survives a reload of its tab, and no other tab has it.

const PREFIX = "draft:";

/** The draft under a key; null where nothing was written. */
export function readDraft(key: string): string | null {
  try {
    return sessionStorage.getItem(PREFIX + key);
  } catch {
    return null;
  }
}

/** Keep a draft; an empty one is forgotten. */
export function keepDraft(key: string, text: string): void {
  try {
    if (text) sessionStorage.setItem(PREFIX + key, text);
    else sessionStorage.removeItem(PREFIX + key);
  } catch {
    // A browser that stores nothing, or no more, loses the draft with the page.
  }
}

/** Forget all drafts: the next person at this tab reads none of them. */
export function forgetDrafts(): void {
  try {
    for (const key of Object.keys(sessionStorage))
      if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
  } catch {
    // As above: there are none.
  }
}
