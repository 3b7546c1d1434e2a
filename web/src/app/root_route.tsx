import { createRootRoute, Link } from "@tanstack/react-router";
import { Empty, Failure } from "../parts/states";
import { messages } from "../words/messages";
import { Shell } from "./shell";

/** A search parameter that is text; anything else is left out. */
const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== ""
    ? value
    : typeof value === "number"
      ? String(value)
      : undefined;

export const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => (
    <div className="page">
      <Empty
        title={messages.noPage}
        actions={
          <Link to="/" className="btn">
            {messages.home}
          </Link>
        }
      />
    </div>
  ),
  errorComponent: ({ error }) => (
    <div className="page">
      <Failure
        what={messages.pageFailed}
        error={error as Error}
        retry={() => window.location.reload()}
      />
    </div>
  ),
});

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
