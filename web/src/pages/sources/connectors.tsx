import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plug } from "lucide-react";
import { resourcesQuery } from "../../api/resources";
import { StateMark } from "../../parts/marks";
import { ResourceName } from "../../parts/resource_rows";
import { Failure } from "../../parts/states";
import { sharing } from "../../words/resources";

const STATES: Record<string, string> = { ok: "done", degraded: "waiting", failed: "failed" };
const RANKS: Record<string, number> = { failed: 0, degraded: 1, pending: 3, ok: 2 };

export function ConnectButton() {
  return (
    <div className="acts">
      <Link to="/sources/connect" className="btn primary">
        <Plug className="i s" aria-hidden="true" /> {sharing.connect}
      </Link>
    </div>
  );
}

/** The sources that people have connected and the caller sees, the worst first. */
export function Connectors() {
  const found = useQuery(resourcesQuery("connector"));
  if (found.error)
    return (
      <Failure
        what={sharing.connectorsFailed}
        error={found.error}
        retry={() => void found.refetch()}
      />
    );
  if (!found.data || found.data.length === 0) return null;
  const rank = (status = "ok") => RANKS[status] ?? 2;
  const sorted = [...found.data].sort((a, b) => rank(a.source?.status) - rank(b.source?.status));
  return (
    <section className="card connectors" aria-label={sharing.yours}>
      <header>
        <h2>{sharing.yours}</h2>
      </header>
      <ul className="rows">
        {sorted.map((item) => (
          <li className="go" key={item.id}>
            <Link to="/sources/connectors/$id" params={{ id: item.id }}>
              <ResourceName resource={item} />
              {item.source && (
                <StateMark
                  state={STATES[item.source.status] ?? "pending"}
                  word={sharing.status[item.source.status]}
                />
              )}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
