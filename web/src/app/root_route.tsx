import { createRootRoute, Link } from "@tanstack/react-router";
import { useState } from "react";
import { Unreachable } from "../api/errors";
import { Empty, Failure } from "../parts/states";
import { messages } from "../words/messages";
import { answers } from "./lazy_page";
import { Shell } from "./shell";

/** What stands for a page that cannot be shown; one that could not be fetched is asked for again. */
export function PageFailure({ error }: { error: unknown }) {
  const [isTrying, setTrying] = useState(false);
  const retry = async () => {
    setTrying(true);
    if (!(error instanceof Unreachable) || (await answers())) window.location.reload();
    else setTrying(false);
  };
  return (
    <div className="page">
      <Failure
        what={messages.pageFailed}
        error={error as Error}
        retry={() => void retry()}
        isTrying={isTrying}
      />
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
