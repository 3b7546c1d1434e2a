import { createRootRoute, Link } from "@tanstack/react-router";
import { Empty, Failure } from "../parts/states";
import { messages } from "../words/messages";
import { Shell } from "./shell";

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
