import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { type Schema, send } from "../../api/client";
import { type Key, keysQuery } from "../../api/people";
import { Confirm } from "../../parts/confirm";
import { StateMark } from "../../parts/marks";
import { usePageTitle } from "../../parts/page_title";
import { ShownOnce } from "../../parts/shown_once";
import { Empty, Failure, Skeleton } from "../../parts/states";
import { formatFull, formatWhen } from "../../words/format";
import { messages } from "../../words/messages";
import { people } from "../../words/people";
import { NewKey } from "./new_key";

const SOON = 14 * 24 * 3600;

/** The keys of the caller: made here, shown once, revoked. */
export function KeysPage() {
  usePageTitle(people.keys);
  const client = useQueryClient();
  const keys = useQuery(keysQuery);
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<Schema<"NewKeyAnswer"> | null>(null);
  const [asked, setAsked] = useState<Key | null>(null);
  const [showsEnded, setShowsEnded] = useState(false);
  const revoke = useMutation({
    mutationFn: (key: Key) => send("DELETE", `/keys/${encodeURIComponent(key.id)}`),
    onSuccess: () => setAsked(null),
    onSettled: () => client.invalidateQueries({ queryKey: ["keys"] }),
  });
  const all = [...(keys.data ?? [])].reverse();
  const ended = all.filter((key) => endOf(key) !== "");
  const shown = all.filter((key) => showsEnded || endOf(key) === "");
  return (
    <div className="page">
      <div className="wide stack">
        <div className="head">
          <div>
            <h1>{people.keys}</h1>
            <p>{people.keysWhat}</p>
          </div>
          <div className="acts">
            <button type="button" className="btn primary" onClick={() => setMaking(true)}>
              <Plus className="i s" aria-hidden="true" /> {people.newKey}
            </button>
          </div>
        </div>
        {made && (
          <ShownOnce
            title={people.keyMade(made.name)}
            value={made.key}
            what={people.keyMadeWhat}
            done={people.iHaveStored}
            state={people.worksNow}
            onDone={() => setMade(null)}
          />
        )}
        {keys.isPending && <Skeleton rows={3} />}
        {keys.error && (
          <Failure what={people.keysFailed} error={keys.error} retry={() => void keys.refetch()} />
        )}
        {keys.data && shown.length === 0 && (
          <Empty title={people.noKeys} pegs>
            {people.noKeysWhy}
          </Empty>
        )}
        {shown.length > 0 && <KeyTable keys={shown} onRevoke={setAsked} />}
        {ended.length > 0 && !showsEnded && (
          <div>
            <button type="button" className="btn quiet sm" onClick={() => setShowsEnded(true)}>
              {people.showEnded(ended.length)}
            </button>
          </div>
        )}
      </div>
      {isMaking && (
        <NewKey
          onMade={(key) => {
            setMaking(false);
            setMade(key);
          }}
          onClose={() => setMaking(false)}
        />
      )}
      {asked && (
        <Confirm
          title={people.revokeQuestion(asked.name)}
          what={people.revokeWhat}
          action={messages.revoke}
          error={revoke.error}
          isPending={revoke.isPending}
          onConfirm={() => revoke.mutate(asked)}
          onClose={() => {
            setAsked(null);
            revoke.reset();
          }}
        />
      )}
    </div>
  );
}

/** Why a key no longer works; empty if it does. */
function endOf(key: Key): string {
  if (key.revoked_at !== null) return people.revoked;
  const isLate = key.expires_at !== null && key.expires_at <= Date.now() / 1000;
  return isLate ? people.ended : "";
}

function KeyTable({ keys, onRevoke }: { keys: Key[]; onRevoke: (key: Key) => void }) {
  return (
    <section className="card">
      <table className="tbl people">
        <caption className="cap">{people.keys}</caption>
        <thead>
          <tr>
            <th scope="col">{people.key}</th>
            <th scope="col">{people.may}</th>
            <th scope="col">{people.ends}</th>
            <th scope="col">{people.lastUsed}</th>
            <th scope="col">
              <span className="sr">{people.action}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id} className={endOf(key) ? "done" : undefined}>
              <td>
                <b>{key.name}</b>
                <small className="mono">{key.hint}…</small>
              </td>
              <td>
                <Scopes scopes={key.scopes} />
              </td>
              <td>
                {endOf(key) ? (
                  <StateMark state="denied" word={endOf(key)} />
                ) : (
                  <Ends at={key.expires_at} />
                )}
              </td>
              <td
                className="dim num"
                data-l={people.lastUsed}
                title={key.used_at === null ? undefined : formatFull(key.used_at)}
              >
                {key.used_at === null ? people.never : formatWhen(key.used_at)}
              </td>
              <td className="acts-cell">
                {!endOf(key) && (
                  <button
                    type="button"
                    className="btn sm"
                    aria-label={`${messages.revoke}: ${key.name}`}
                    onClick={() => onRevoke(key)}
                  >
                    {messages.revoke}
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Scopes({ scopes }: { scopes: readonly string[] }) {
  if (scopes.includes("*")) return <span>{people.mayAll}</span>;
  return (
    <span className="tags">
      {scopes.map((scope) => (
        <code className="tag" key={scope}>
          {scope}
        </code>
      ))}
    </span>
  );
}

function Ends({ at }: { at: number | null }) {
  if (at === null) return <span className="dim">{people.never}</span>;
  const left = at - Date.now() / 1000;
  return (
    <span className={left < SOON ? "wait" : undefined} title={formatFull(at)}>
      {people.inDays(Math.max(1, Math.ceil(left / 86_400)))}
    </span>
  );
}
