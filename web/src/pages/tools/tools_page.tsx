import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { searchQuery, sourcesQuery, type Tool, toolsQuery } from "../../api/queries";
import { usePageTitle } from "../../parts/page_title";
import { pegOf } from "../../parts/pegs";
import { Empty, Failure, Skeleton } from "../../parts/states";
import { messages } from "../../words/messages";
import { toolWords } from "../../words/tools";
import { ToolDetailView } from "./tool_detail";
import { ToolItem } from "./tool_item";

export interface ToolSearch {
  q?: string;
  show?: string;
  source?: string;
  tab?: string;
}

const FILTERS: [string, string][] = [
  ["", messages.all],
  ["read", toolWords.reads],
  ["write", toolWords.writes],
  ["ask", messages.asksFirst],
];
const MOST_ROWS = 120;

/** All tools by source, found by name or by what they do; one of them beside the list. */
export function ToolsPage() {
  const { name = "" } = useParams({ strict: false });
  const search = useSearch({ strict: false }) as ToolSearch;
  const tools = useQuery(toolsQuery);
  const found = useQuery(searchQuery(search.q ?? ""));
  usePageTitle(messages.tools);

  const shown = useMemo(() => {
    const all = tools.data ?? [];
    const ranked = search.q ? ((found.data?.tools ?? []) as Tool[]) : all;
    return ranked.filter((tool) => fits(tool, search));
  }, [tools.data, found.data, search]);
  const isSearch = Boolean(search.q);
  const groups: [string, Tool[]][] = isSearch
    ? [[toolWords.bestFirst, shown]]
    : groupBySource(shown);

  return (
    <div className="split" data-open={name !== "" || undefined}>
      <section className="list" aria-label={messages.tools}>
        <div className="top">
          <div className="line">
            <h1>{messages.tools}</h1>
            <span className="faint num">{tools.data?.length}</span>
          </div>
          <SearchField search={search} />
          <Filters name={name} search={search} />
        </div>
        {tools.isPending && <Skeleton rows={6} />}
        {tools.error && (
          <Failure
            what={toolWords.toolsFailed}
            error={tools.error}
            retry={() => void tools.refetch()}
          />
        )}
        {tools.isSuccess && !found.isFetching && shown.length === 0 && (
          <div className="quiet-row">
            <Empty title={search.q ? toolWords.noToolFits(search.q) : toolWords.noToolsHere}>
              {search.q ? toolWords.otherWords : toolWords.otherFilter}
            </Empty>
          </div>
        )}
        {isSearch && found.data?.skipped?.includes("meaning") && (
          <p className="note quiet-row" role="status">
            {toolWords.wordsOnly}
          </p>
        )}
        <ToolGroups groups={groups} chosen={name} search={search} />
      </section>
      {name ? (
        <ToolDetailView key={name} name={name} search={search} />
      ) : (
        <section className="detail" aria-label={toolWords.tool}>
          <div className="in-col">
            <p className="faint nothing">{toolWords.chooseTool}</p>
          </div>
        </section>
      )}
    </div>
  );
}

/** The tools of each source, the sources by name. */
function groupBySource(tools: readonly Tool[]): [string, Tool[]][] {
  const groups = new Map<string, Tool[]>();
  for (const tool of tools) {
    const group = groups.get(tool.source);
    if (group) group.push(tool);
    else groups.set(tool.source, [tool]);
  }
  return [...groups].sort(([a], [b]) => a.localeCompare(b));
}

function fits(tool: Tool, { show, source }: ToolSearch): boolean {
  if (source && tool.source !== source) return false;
  if (show === "read") return tool.effect === "read";
  if (show === "write") return tool.effect !== "read";
  if (show === "ask") return pegOf(tool) === "q";
  return true;
}

function SearchField({ search }: { search: ToolSearch }) {
  const navigate = useNavigate();
  const [text, setText] = useState(search.q ?? "");
  useEffect(() => {
    if (text === (search.q ?? "")) return;
    const timer = setTimeout(() => {
      // Where the page is by then: a tool may have been opened since the last letter.
      void navigate({
        to: ".",
        search: (now) => ({ ...now, q: text || undefined }),
        replace: true,
      });
    }, 120);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div className="find">
      <Search className="i" aria-hidden="true" />
      <input
        className="in"
        type="search"
        aria-label={toolWords.findTool}
        placeholder={toolWords.findHint}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </div>
  );
}

function Filters({ name, search }: { name: string; search: ToolSearch }) {
  const navigate = useNavigate();
  const go = (next: ToolSearch) =>
    void (name
      ? navigate({ to: "/tools/$name", params: { name }, search: next })
      : navigate({ to: "/tools", search: next }));
  return (
    <div className="filters">
      {FILTERS.map(([value, word]) => (
        <button
          key={word}
          type="button"
          className="chip"
          aria-pressed={(search.show ?? "") === value}
          onClick={() => go({ ...search, show: value || undefined })}
        >
          {word}
        </button>
      ))}
      {search.source && (
        <button
          type="button"
          className="chip"
          aria-pressed="true"
          onClick={() => go({ ...search, source: undefined })}
        >
          {search.source} ×<span className="sr"> {toolWords.allSources}</span>
        </button>
      )}
    </div>
  );
}

interface ToolGroupsProps {
  groups: [string, Tool[]][];
  chosen: string;
  search: ToolSearch;
}

/** At most 120 rows at first: a board with thousands of tools is searched, not scrolled. */
function ToolGroups({ groups, chosen, search }: ToolGroupsProps) {
  const [most, setMost] = useState(MOST_ROWS);
  const { data: known } = useQuery(sourcesQuery);
  const failing = new Set(
    known?.sources.filter((source) => source.status !== "ok").map((source) => source.name),
  );
  const total = groups.reduce((sum, [, tools]) => sum + tools.length, 0);
  let left = most;
  return (
    <div className="items">
      {groups.map(([source, tools]) => {
        const drawn = tools.slice(0, left);
        left -= drawn.length;
        if (drawn.length === 0) return null;
        return (
          <section key={source} aria-label={source}>
            <h2>
              {source}
              <span>{tools.length}</span>
            </h2>
            {drawn.map((tool) => (
              <ToolItem
                key={tool.name}
                tool={tool}
                isChosen={tool.name === chosen}
                isFailing={failing.has(tool.source)}
                search={search}
              />
            ))}
          </section>
        );
      })}
      {total > most && (
        <button type="button" className="btn quiet" onClick={() => setMost(most + MOST_ROWS)}>
          {messages.showMoreOf(total)}
        </button>
      )}
    </div>
  );
}
