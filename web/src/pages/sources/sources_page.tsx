import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import {
  Bot,
  Braces,
  Database,
  type LucideIcon,
  Package,
  Plug,
  Server,
  SquareTerminal,
} from "lucide-react";
import { type Source, sourcesQuery } from "../../api/queries";
import { boardWords } from "../../words/board";
import { resourcesQuery } from "../../api/resources";
import { AccountInUse } from "../../parts/accounts";
import { type Mark, MarkIcon } from "../../parts/marks";
import { usePageTitle } from "../../parts/page_title";
import { Empty, Failure, Skeleton } from "../../parts/states";
import { Table } from "../../parts/table";
import { formatCount } from "../../words/format";
import { messages } from "../../words/messages";
import { ConnectButton, Connectors } from "./connectors";

const ICONS: Record<string, LucideIcon> = {
  functions: Braces,
  sql: Database,
  mcp: Server,
  builtin: Package,
  scripts: SquareTerminal,
  agents: Bot,
};

/** Where the tools come from, the worst source first. */
export function SourcesPage() {
  usePageTitle(messages.sources);
  const sources = useQuery(sourcesQuery);
  const { data: connectors = [] } = useQuery(resourcesQuery("connector"));
  const connected = new Set(connectors.map((item) => item.name));
  const found = (sources.data?.sources ?? [])
    .filter((source) => !connected.has(source.name))
    .sort((a, b) => rank(a) - rank(b));
  return (
    <div className="page">
      <div className="wide">
        <div className="head">
          <div>
            <h1>{messages.sources}</h1>
            <p>{boardWords.whereFrom}</p>
          </div>
          <ConnectButton />
        </div>
        <Connectors />
        {sources.isPending && <Skeleton rows={5} />}
        {sources.error && (
          <Failure
            what={boardWords.sourcesFailed}
            error={sources.error}
            retry={() => void sources.refetch()}
          />
        )}
        {sources.isSuccess && found.length === 0 && connected.size === 0 && (
          <Empty title={boardWords.noSources} pegs>
            Add one in <code>board.yaml</code>, or with <code>pegboard add</code>.
          </Empty>
        )}
        {sources.data?.problem && (
          <div className="banner bad" role="alert">
            <MarkIcon mark="bad" /> {sources.data.problem}
          </div>
        )}
        {found.length > 0 && (
          <section className="card clip">
            <Table
              caption={messages.sources}
              columns={[boardWords.source, messages.state, messages.tools, boardWords.whatToKnow]}
            >
              {found.map((source) => (
                <SourceRow key={source.name} source={source} />
              ))}
            </Table>
          </section>
        )}
      </div>
    </div>
  );
}

function SourceRow({ source }: { source: Source }) {
  const Icon = ICONS[source.kind] ?? Plug;
  const [mark, word] = stateOf(source);
  return (
    <tr>
      <td>
        <div className="named">
          <span className="tile">
            <Icon className="i" aria-hidden="true" />
          </span>
          <div>
            <b>
              <Link className="row-link" to="/tools" search={{ source: source.name }}>
                {source.name}
              </Link>
            </b>
            <small>{source.title || source.kind}</small>
          </div>
        </div>
      </td>
      <td>
        <span className={`state ${mark === "next" ? "faint" : mark}`}>
          <MarkIcon mark={mark} small /> {word}
        </span>
      </td>
      <td className="opt dim num">{source.tools}</td>
      <td className="know dim">
        {noteOf(source)}
        {source.takes_accounts && <AccountInUse source={source.name} />}
      </td>
    </tr>
  );
}

function stateOf(source: Source): [Mark, string] {
  if (source.status === "failed") return ["bad", boardWords.silent];
  if (source.health === "unhealthy") return ["bad", boardWords.unhealthy];
  if (source.held > 0) return ["unsure", boardWords.held(source.held)];
  if (source.health === "degraded") return ["wait", boardWords.degraded];
  if (source.status !== "ok") return ["run", messages.loading];
  return ["ok", boardWords.ready];
}

function noteOf(source: Source): React.ReactNode {
  if (source.reason) return source.reason;
  if (source.health_reason) return source.health_reason;
  if (source.unavailable > 0)
    return (
      <details>
        <summary>{boardWords.notAvailable(formatCount(source.unavailable, "tool"))}</summary>
        <ul className="reasons">
          {(source.unavailable_reasons ?? []).map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      </details>
    );
  return "";
}

function rank(source: Source): number {
  return { bad: 0, unsure: 1, wait: 2, run: 3 }[stateOf(source)[0] as string] ?? 4;
}
