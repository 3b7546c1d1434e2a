import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { type Schema, send } from "../../api/client";
import { type Key, keysQuery } from "../../api/people";
import { Confirm } from "../../parts/confirm";
import { endOf, KeyTable } from "../../parts/key_table";
import { NewKey } from "../../parts/new_key";
import { usePageTitle } from "../../parts/page_title";
import { ShownOnce } from "../../parts/shown_once";
import { Empty, Failure, Skeleton } from "../../parts/states";
import { messages } from "../../words/messages";
import { people } from "../../words/people";

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
            {people.noKeysWhy[0]} <code>pegboard login</code>
            {people.noKeysWhy[1]}
          </Empty>
        )}
        {shown.length > 0 && <KeyTable title={people.keys} keys={shown} onRevoke={setAsked} />}
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
          path="/keys"
          onMade={async (key) => {
            setMaking(false);
            setMade(key);
            await client.invalidateQueries({ queryKey: ["keys"] });
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
