import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { send } from "../../api/client";
import { connectAccount, type Credential, credentialsQuery } from "../../api/credentials";
import { Confirm } from "../../parts/confirm";
import { usePageTitle } from "../../parts/page_title";
import { Empty, Failure, Problem, Skeleton } from "../../parts/states";
import { secrets } from "../../words/credentials";
import { people } from "../../words/people";
import { CredentialForm } from "./credential_form";
import { CredentialTable } from "./credential_table";
import { ReplaceDialog } from "./replace_dialog";

/** The credentials of the caller, by source; their values are never shown. */
export function CredentialsPage() {
  usePageTitle(secrets.title);
  const { source = "" } = useSearch({ strict: false }) as { source?: string };
  const client = useQueryClient();
  const credentials = useQuery(credentialsQuery);
  const mine = credentials.data ?? [];
  const found = source ? mine.filter((item) => item.source === source) : mine;
  const [wantsForm, setAdding] = useState<boolean | null>(null);
  // Who comes from a source that has no account yet comes to add one.
  const isAdding = wantsForm ?? (source !== "" && credentials.isSuccess && found.length === 0);
  const [removed, setRemoved] = useState<Credential | null>(null);
  const [replaced, setReplaced] = useState<Credential | null>(null);
  const read = () => client.invalidateQueries({ queryKey: ["credentials"] });
  const choose = useMutation({
    mutationFn: (item: Credential) =>
      send("PATCH", `/credentials/${item.id}`, { is_default: true }),
    onSettled: read,
  });
  const reconnect = useMutation({
    mutationFn: (item: Credential) => connectAccount(item.source, item.name),
  });
  const remove = useMutation({
    mutationFn: (item: Credential) => send("DELETE", `/credentials/${item.id}`),
    onSuccess: () => setRemoved(null),
    onSettled: read,
  });
  return (
    <div className="page">
      <div className="wide stack">
        <div className="head">
          <div>
            <h1>{secrets.title}</h1>
            <p>{secrets.what}</p>
            {source && (
              <p>
                {secrets.ofSource(source)}{" "}
                <Link className="link" to="/credentials" search={{}}>
                  {secrets.showAll}
                </Link>
              </p>
            )}
          </div>
          {!isAdding && (
            <div className="acts">
              <button type="button" className="btn primary" onClick={() => setAdding(true)}>
                <Plus className="i s" aria-hidden="true" /> {secrets.add}
              </button>
            </div>
          )}
        </div>
        {isAdding && (
          <CredentialForm
            source={source}
            credentials={mine}
            onDone={async () => {
              setAdding(false);
              await read();
            }}
          />
        )}
        {credentials.isPending && <Skeleton rows={3} />}
        {credentials.error && (
          <Failure
            what={secrets.failed}
            error={credentials.error}
            retry={() => void credentials.refetch()}
          />
        )}
        {credentials.isSuccess && found.length === 0 && !isAdding && (
          <Empty title={source ? secrets.noneOfSource(source) : secrets.none} pegs>
            {secrets.noneWhy}
          </Empty>
        )}
        <Problem error={choose.error ?? reconnect.error} />
        {found.length > 0 && (
          <CredentialTable
            credentials={found}
            onChoose={choose.mutate}
            onReplace={(item) =>
              item.kind === "oauth2" ? reconnect.mutate(item) : setReplaced(item)
            }
            onRemove={setRemoved}
          />
        )}
      </div>
      {replaced && (
        <ReplaceDialog
          credential={replaced}
          onDone={async () => {
            setReplaced(null);
            await read();
          }}
          onClose={() => setReplaced(null)}
        />
      )}
      {removed && (
        <Confirm
          title={secrets.removeQuestion(removed.name)}
          what={secrets.removeWhat}
          action={people.remove}
          error={remove.error}
          isPending={remove.isPending}
          onConfirm={() => remove.mutate(removed)}
          onClose={() => {
            setRemoved(null);
            remove.reset();
          }}
        />
      )}
    </div>
  );
}
