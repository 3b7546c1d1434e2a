import { useMutation, useQuery } from "@tanstack/react-query";
import { Check, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { type Schema, send } from "../../api/client";
import { sessionQuery } from "../../api/queries";
import { usePageTitle } from "../../parts/page_title";
import { Failure, Problem } from "../../parts/states";
import { consentWords } from "../../words/consent";

/** What an MCP client asks the person for; it gets an answer only here. */
export function ConsentPage() {
  usePageTitle(consentWords.title);
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
      <div className="consent stack">
        <h1>{consentWords.title}</h1>
        {session && !session.signed_in && <p className="dim">{consentWords.signInFirst}</p>}
        {asked.error && (
          <Failure
            what={consentWords.cannot}
            error={asked.error}
            retry={() => void asked.refetch()}
          />
        )}
        {asked.data && (
          <Decision
            request={request}
            asked={asked.data}
            who={session?.name || session?.handle || ""}
          />
        )}
      </div>
    </div>
  );
}

interface DecisionProps {
  request: string;
  asked: Schema<"RequestAnswer">;
  /** The name of the reader. */
  who: string;
}

function Decision({ request, asked, who }: DecisionProps) {
  const decide = useMutation({
    mutationFn: (allow: boolean) =>
      send<Schema<"DecidedRequest">>("POST", "/oauth-requests/decision", { request, allow }),
    onSuccess: ({ url }) => window.location.assign(url),
  });
  const isOver = decide.isPending || decide.isSuccess;
  return (
    <section className="card padded" aria-labelledby="wants">
      <h2 id="wants">{consentWords.wants(asked.name)}</h2>
      <p className="dim">{consentWords.youAre(who)}</p>
      <div>
        <p className="mini">{consentWords.itMay}</p>
        <ul className="mays">
          {asked.scopes.map((scope) => (
            <li key={scope}>
              <Check className="i s" aria-hidden="true" /> {consentWords.scopes[scope] ?? scope}
            </li>
          ))}
        </ul>
        <p className="hint">{consentWords.never}</p>
      </div>
      <div className="tainted">
        <TriangleAlert className="i s" aria-hidden="true" />
        <p>{consentWords.unchecked}</p>
      </div>
      <dl className="kv">
        <div className="pair">
          <dt>{consentWords.goesTo}</dt>
          <dd className="mono">{asked.redirect}</dd>
        </div>
        <div className="pair">
          <dt>{consentWords.id}</dt>
          <dd className="mono">{asked.client}</dd>
        </div>
      </dl>
      <p className="hint">{consentWords.revoke}</p>
      <Problem error={decide.error} />
      <div className="acts">
        <button
          type="button"
          className="btn primary"
          disabled={isOver}
          onClick={() => decide.mutate(true)}
        >
          {consentWords.letIn}
        </button>
        <button
          type="button"
          className="btn"
          disabled={isOver}
          onClick={() => decide.mutate(false)}
        >
          {consentWords.refuse}
        </button>
      </div>
    </section>
  );
}
