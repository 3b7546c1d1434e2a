import { createRootRoute, Link } from "@tanstack/react-router";
import { Unreachable } from "../api/errors";
import { Empty, Failure } from "../parts/states";
import { messages } from "../words/messages";
import { answers } from "./lazy_page";
import { Shell } from "./shell";

/** What stands for a page that cannot be shown; one that could not be fetched is asked for again. */
export function PageFailure({ error }: { error: unknown }) {
  const retry = async () => {
    if (!(error instanceof Unreachable) || (await answers())) window.location.reload();
  };
  return (
    <div className="page">
      <Failure what={messages.pageFailed} error={error as Error} retry={() => void retry()} />
    </div>
  );
}

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
  errorComponent: PageFailure,
});
