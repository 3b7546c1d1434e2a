import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Monitor } from "lucide-react";
import { send } from "../../api/client";
import { type OpenSession, openSessionsQuery } from "../../api/settings";
import { Failure, Problem, Skeleton } from "../../parts/states";
import { formatFull, formatWhen } from "../../words/format";
import { settingWords } from "../../words/settings";

/** The browsers in which the caller is signed in; each other one can be signed out. */
export function SessionsCard() {
  const client = useQueryClient();
  const sessions = useQuery(openSessionsQuery);
  const end = useMutation({
    mutationFn: (id: string) => send("DELETE", `/account/sessions${id && `/${id}`}`),
    onSettled: () => client.invalidateQueries({ queryKey: openSessionsQuery.queryKey }),
  });
  if (sessions.error)
    return (
      <Failure
        what={settingWords.sessionsFailed}
        error={sessions.error}
        retry={() => void sessions.refetch()}
      />
    );
  if (!sessions.data) return <Skeleton rows={2} />;
  return (
    <section className="card" aria-label={settingWords.sessions}>
      <header>
        <h2>{settingWords.sessions}</h2>
        {sessions.data.length > 1 && (
          <button
            type="button"
            className="btn sm push"
            disabled={end.isPending}
            onClick={() => end.mutate("")}
          >
            {settingWords.endOthers}
          </button>
        )}
      </header>
      <p className="body dim">{settingWords.sessionsWhat}</p>
      <ul className="rows">
        {sessions.data.map((session) => (
          <li key={session.id} className="resource-row">
            <span className="tile">
              <Monitor className="i" aria-hidden="true" />
            </span>
            <span className="t">
              <b>
                {nameOf(session.signed_in_from)}{" "}
                {session.current && <span className="tag">{settingWords.thisBrowser}</span>}
              </b>
              {session.used_at !== null && (
                <span title={formatFull(session.used_at)}>
                  {settingWords.lastUsed(formatWhen(session.used_at), elsewhereOf(session))}
                </span>
              )}
              <span title={formatFull(session.signed_in_at)}>
                {settingWords.signedIn(
                  formatWhen(session.signed_in_at),
                  formatFull(session.expires_at),
                )}
              </span>
            </span>
            {!session.current && (
              <button
                type="button"
                className="btn sm push"
                aria-label={settingWords.endOf(formatFull(session.signed_in_at))}
                disabled={end.isPending}
                onClick={() => end.mutate(session.id)}
              >
                {settingWords.end}
              </button>
            )}
          </li>
        ))}
      </ul>
      <Problem error={end.error} />
    </section>
  );
}

function nameOf(client: OpenSession["used_from"]): string {
  return settingWords.from(client.browser || settingWords.unknownBrowser, client.address);
}

/** Where a session was last used, if that is not where it was begun. */
function elsewhereOf({ signed_in_from, used_from }: OpenSession): string {
  const [first, last] = [nameOf(signed_in_from), nameOf(used_from)];
  return first === last ? "" : last;
}
