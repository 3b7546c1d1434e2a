import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type Source, sourcesQuery, toolsQuery } from "../../api/queries";
import { Accounts } from "../../parts/accounts";
import { CrumbLink, Crumbs } from "../../parts/crumbs";
import { MarkIcon } from "../../parts/marks";
import { usePageTitle } from "../../parts/page_title";
import { SourceFigures } from "../../parts/source_figures";
import { Empty, Failure, Skeleton } from "../../parts/states";
import { boardWords } from "../../words/board";
import { explaining } from "../../words/explain";
import { titleOf } from "../../words/format";
import { messages } from "../../words/messages";
import { sharing } from "../../words/resources";
import { SourceNote, SourceState } from "./source_state";

const MOST_SHOWN = 50;

/** One source of the board file: its state, what its calls were like, and its tools. */
export function SourcePage() {
  const { name = "" } = useParams({ strict: false }) as { name?: string };
  const sources = useQuery(sourcesQuery);
  const source = sources.data?.sources.find((item) => item.name === name);
  usePageTitle(name);
  return (
    <div className="page">
      <div className="wide stack">
        <Crumbs label={explaining.where} here={name}>
          <CrumbLink to="/sources">{messages.sources}</CrumbLink>
        </Crumbs>
        {sources.isPending && <Skeleton rows={4} />}
        {sources.error && (
          <Failure
            what={boardWords.sourcesFailed}
            error={sources.error}
            retry={() => void sources.refetch()}
          />
        )}
        {sources.data && !source && <Empty title={boardWords.noSource}>{messages.notForYou}</Empty>}
        {source && <Details source={source} />}
      </div>
    </div>
  );
}

function Details({ source }: { source: Source }) {
  const tools = useQuery(toolsQuery);
  const isSilent = source.status === "failed";
  const own = (tools.data ?? []).filter((tool) => tool.source === source.name);
  return (
    <>
      <div className="head">
        <div>
          <h1>{source.name}</h1>
          <p className="facts-line">
            <SourceState source={source} />
            <span>{source.title || source.kind}</span>
            <span>{boardWords.changeInFile}</span>
          </p>
          {!isSilent && (
            <div className="dim">
              <SourceNote source={source} />
            </div>
          )}
        </div>
      </div>
      {isSilent && (
        <div className="banner bad">
          <MarkIcon mark="bad" />
          <span>
            <SourceNote source={source} />
          </span>
        </div>
      )}
      <SourceFigures source={source.name} />
      {source.takes_accounts && <Accounts source={source.name} />}
      {tools.isPending && <Skeleton rows={4} />}
      {tools.isSuccess && own.length === 0 && (
        <Empty title={isSilent ? boardWords.toolsNotKnown : boardWords.noTools} />
      )}
      {own.length > 0 && (
        <section className="card" aria-label={messages.tools}>
          <header>
            <h2>{messages.tools}</h2>
            <Link className="more push" to="/tools" search={{ source: source.name }}>
              {boardWords.showAll(own.length)}
            </Link>
          </header>
          <ul className="rows">
            {own.slice(0, MOST_SHOWN).map((tool) => (
              <li className="go" key={tool.name}>
                <Link to="/tools/$name" params={{ name: tool.name }}>
                  <span className="t">
                    <b>{titleOf(tool.name, tool.title)}</b>
                    <span className="mono cut">{tool.name}</span>
                  </span>
                </Link>
              </li>
            ))}
          </ul>
          {own.length > MOST_SHOWN && (
            <p className="quiet-row faint">{sharing.andMore(own.length - MOST_SHOWN)}</p>
          )}
        </section>
      )}
    </>
  );
}
