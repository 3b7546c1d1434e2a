import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { send } from "../api/client";
import { type Credential, credentialsQuery } from "../api/credentials";
import { sourcesQuery } from "../api/queries";
import { secrets } from "../words/credentials";
import { StateMark } from "./marks";
import { Problem } from "./states";

/** The accounts of the reader for a source whose calls act with one: which of them calls use. */
export function Accounts({ source }: { source: string }) {
  const client = useQueryClient();
  const { data: sources } = useQuery(sourcesQuery);
  const takes = sources?.sources.some((item) => item.name === source && item.takes_accounts);
  const { data } = useQuery({ ...credentialsQuery, enabled: takes === true });
  const choose = useMutation({
    mutationFn: (item: Credential) =>
      send("PATCH", `/credentials/${item.id}`, { is_default: true }),
    onSettled: () => client.invalidateQueries({ queryKey: ["credentials"] }),
  });
  if (!takes || !data) return null;
  const accounts = data.filter((item) => item.source === source);
  return (
    <section className="card" aria-label={secrets.yourAccounts}>
      <header>
        <h2>{secrets.yourAccounts}</h2>
      </header>
      <div className="body">
        <p className="dim">{accounts.length > 0 ? secrets.callsUse : secrets.callsNeed}</p>
        {accounts.length > 0 && (
          <fieldset className="pickone" disabled={choose.isPending}>
            <legend className="sr">{secrets.callsUse}</legend>
            {accounts.map((item) => (
              <label key={item.id}>
                <input
                  type="radio"
                  name={`account-${source}`}
                  checked={item.is_default}
                  onChange={() => choose.mutate(item)}
                />
                <b>{item.name}</b>
                <small>
                  {[item.identity && secrets.ofSystem(item.identity), secrets.kinds[item.kind]]
                    .filter(Boolean)
                    .join(", ")}
                </small>
                {item.state === "reconnect" && (
                  <small>
                    <StateMark state="waiting" word={secrets.reconnect} /> {item.reason}
                  </small>
                )}
              </label>
            ))}
          </fieldset>
        )}
        <Problem error={choose.error} />
        <div className="acts">
          <Link className="btn" to="/credentials" search={{ source }}>
            {accounts.length === 0 && <Plus className="i s" aria-hidden="true" />}
            {accounts.length > 0 ? secrets.manage : secrets.addAccount}
          </Link>
        </div>
      </div>
    </section>
  );
}

/** In a line: which account calls of a source use, or that they need one; it leads to them. */
export function AccountInUse({ source }: { source: string }) {
  const { data } = useQuery(credentialsQuery);
  if (!data) return null;
  const used = data.find((item) => item.source === source && item.is_default);
  const who = used && `${used.name}${used.identity ? ` (${used.identity})` : ""}`;
  return (
    <Link className="link account-in-use" to="/credentials" search={{ source }}>
      {who ? secrets.usesAccount(who) : secrets.addAccount}
    </Link>
  );
}
