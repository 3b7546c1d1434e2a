// Where a person was before signing in somewhere else, and where the server wants the sign-in to lead.

import { API, UI } from "../api/address";

const KEY = "place";
const CONNECT = "#connect=";

/** Keep the page for which a person signs in at another server; no other tab has it. */
export function keepPlace(): void {
  const { pathname, search, hash } = window.location;
  try {
    sessionStorage.setItem(KEY, pathname + search + hash);
  } catch {
    // A browser that stores nothing comes back to the first page.
  }
}

/** Show that page again, where the sign-in has led to the first one. */
export function restorePlace(): void {
  const place = takePlace();
  if (place?.startsWith(UI) && window.location.pathname === UI)
    window.history.replaceState(null, "", place);
}

/** Where a person connects an account, who was sent here to sign in first; empty for any other address. */
export function findConnectLink(hash: string): string {
  const query = hash.startsWith(CONNECT) ? hash.slice(CONNECT.length) : "";
  return query && `${API}/credentials/oauth/connect?${query}`;
}

function takePlace(): string | null {
  try {
    const place = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    return place;
  } catch {
    return null;
  }
}
