import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Schema, send } from "../../api/client";
import { sessionQuery } from "../../api/queries";
import { Failure, Problem } from "../../parts/states";

const SCOPES: Record<string, string> = {
  "tools:read": "Call tools that read",
  "tools:write": "Call tools that may change something",
};

/** What an MCP client asks the person for; it gets an answer only here. */
export function ConsentPage() {
  const [request] = useState(() => window.location.hash.replace(/^#request=/, ""));
  const { data: session } = useQuery(sessionQuery);
  const asked = useQuery({
    queryKey: ["oauth-request", request],
    queryFn: () => send<Schema<"RequestAnswer">>("POST", "/oauth-requests", { request }),
    enabled: session?.signed_in === true,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <div className="page">
      {asked.error && (
        <Failure
          what="This request cannot be decided"
          error={asked.error}
          retry={() => asked.refetch()}
        />
      )}
      {asked.data && <Decision request={request} asked={asked.data} handle={session?.handle} />}
    </div>
  );
}

interface DecisionProps {
  request: string;
  asked: Schema<"RequestAnswer">;
  handle?: string;
}

function Decision({ request, asked, handle }: DecisionProps) {
  const decide = useMutation({
    mutationFn: (allow: boolean) =>
      send<Schema<"DecidedRequest">>("POST", "/oauth-requests/decision", { request, allow }),
    onSuccess: ({ url }) => window.location.assign(url),
  });
  return (
    <section className="stack narrow" aria-label="Let a program in">
      <h1>Let a program in</h1>
      <p>
        A program that calls itself “{asked.name}” wants to act as {handle}. It may:
      </p>
      <ul>
        {asked.scopes.map((scope) => (
          <li key={scope}>{SCOPES[scope] ?? scope}</li>
        ))}
      </ul>
      <p className="dim">
        Nobody has checked its name. You go back to {asked.redirect}; its id is {asked.client}. You
        can revoke its key at any time.
      </p>
      <Problem error={decide.error} />
      <div>
        <button
          type="button"
          className="btn primary"
          disabled={decide.isPending}
          onClick={() => decide.mutate(true)}
        >
          Let it in
        </button>
        <button
          type="button"
          className="btn"
          disabled={decide.isPending}
          onClick={() => decide.mutate(false)}
        >
          Refuse
        </button>
      </div>
    </section>
  );
}
