import { parseSearchWith, stringifySearchWith } from "@tanstack/react-router";

/** Search parameters stand in the address as they are: `?page=2`, and not as JSON. */
export const parseSearch = parseSearchWith((text) => text);
export const stringifySearch = stringifySearchWith(String);

/** A search parameter that is text; anything else is left out. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value || undefined;
  // What looks like a number or a truth value is read as one.
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

/** Search parameters by name; each is text, or left out. */
export const readSearch =
  <Name extends string>(...names: Name[]) =>
  (search: Record<string, unknown>): Partial<Record<Name, string>> => {
    const found: Partial<Record<Name, string>> = {};
    for (const name of names) {
      const text = textOf(search[name]);
      if (text !== undefined) found[name] = text;
    }
    return found;
  };
