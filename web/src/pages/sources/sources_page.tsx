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
import { MarkIcon } from "../../parts/marks";
import { usePageTitle } from "../../parts/page_title";
import { Empty, Failure, Skeleton } from "../../parts/states";
import { Table } from "../../parts/table";
import { messages } from "../../words/messages";
import { ConnectButton, Connectors } from "./connectors";
import { rank, SourceNote, SourceState } from "./source_state";

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
  return (
    <tr>
      <td>
        <div className="named">
          <span className="tile">
            <Icon className="i" aria-hidden="true" />
          </span>
          <div>
            <b>
              <Link className="row-link" to="/sources/$name" params={{ name: source.name }}>
                {source.name}
              </Link>
            </b>
            <small>{source.title || source.kind}</small>
          </div>
        </div>
      </td>
      <td>
        <SourceState source={source} />
      </td>
      <td className="opt dim num">{source.tools}</td>
      <td className="know dim">
        <SourceNote source={source} />
        {source.takes_accounts && <AccountInUse source={source.name} />}
      </td>
    </tr>
  );
}
