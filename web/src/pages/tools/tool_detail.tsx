import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronLeft } from "lucide-react";
import {
  callsQuery,
  explainQuery,
  type ToolDetail,
  toolQuery,
  versionsQuery,
} from "../../api/queries";
import { Checks } from "../../parts/checks";
import { Json } from "../../parts/json";
import { MarkIcon, StateMark } from "../../parts/marks";
import { CopyName } from "../../parts/copy_name";
import { usePageTitle } from "../../parts/page_title";
import { Remedies } from "../../parts/remedies";
import { Failure, Skeleton } from "../../parts/states";
import { Table } from "../../parts/table";
import { explaining } from "../../words/explain";
import { nameAccount } from "../../words/approvals";
import { formatDuration, formatFull, formatWhen, titleOf } from "../../words/format";
import { messages } from "../../words/messages";
import { toolWords } from "../../words/tools";
import type { ToolSearch } from "./tools_page";
import { TryTool } from "./try_tool";

const TABS: [string, string][] = [
  ["", toolWords.tryIt],
  ["access", toolWords.whoMayCall],
  ["schema", toolWords.schema],
  ["versions", toolWords.versions],
  ["calls", messages.calls],
];

/** One tool: what it does, a form to try it, who may call it, and what was called. */
export function ToolDetailView({ name, search }: { name: string; search: ToolSearch }) {
  const tool = useQuery(toolQuery(name));
  const tab = search.tab ?? "";
  usePageTitle(titleOf(name, tool.data?.title));
  return (
    <section className="detail" aria-label={titleOf(name, tool.data?.title)}>
      <div className="in-col">
        <Link className="back" to="/tools" search={{ ...search, tab: undefined }}>
          <ChevronLeft className="i" aria-hidden="true" /> {messages.tools}
        </Link>
        {tool.isPending && <Skeleton rows={5} />}
        {tool.error && (
          <Failure
            what={toolWords.toolFailed}
            missing={toolWords.noTool}
            error={tool.error}
            retry={() => void tool.refetch()}
          />
        )}
        {tool.data && (
          <>
            <Title tool={tool.data} />
            <nav className="tabs" aria-label={toolWords.aboutTool}>
              {TABS.map(([value, word]) => (
                <Link
                  key={word}
                  to="/tools/$name"
                  params={{ name }}
                  search={{ ...search, tab: value || undefined }}
                  activeOptions={{ exact: true }}
                  aria-current={tab === value ? "page" : undefined}
                >
                  {word}
                </Link>
              ))}
            </nav>
            {tab === "access" ? (
              <Access name={name} />
            ) : tab === "schema" ? (
              <Schemas tool={tool.data} />
            ) : tab === "versions" ? (
              <Versions name={name} />
            ) : tab === "calls" ? (
              <Calls name={name} />
            ) : (
              <TryTool tool={tool.data} />
            )}
          </>
        )}
      </div>
    </section>
  );
}

function Title({ tool }: { tool: ToolDetail }) {
  const retries = Number(tool.retry?.max_attempts ?? 1);
  return (
    <div className="title">
      <div className="title-row">
        <div>
          <h1>{titleOf(tool.name, tool.title)}</h1>
          <CopyName name={tool.name} />
        </div>
        <div className="acts">
          <Link className="btn" to="/chat" search={{ tool: tool.name }}>
            {toolWords.useInChat}
          </Link>
        </div>
      </div>
      <p className="desc">{tool.description}</p>
      {tool.unavailable && (
        <p className="banner unset">
          <MarkIcon mark="bad" />
          <span>
            <b>{toolWords.cannotRun}</b> {toolWords.unavailableWhy(tool.unavailable)}
          </span>
        </p>
      )}
      <div className="tags">
        <span className="tag">
          {{ read: toolWords.reads, write: toolWords.writes }[tool.effect as string] ??
            toolWords.administers}
        </span>
        {tool.destructive && <span className="tag bad">{toolWords.destroys}</span>}
        <span className="tag">v{tool.version}</span>
        {tool.status !== "active" && <span className="tag wait">{tool.status}</span>}
        {retries > 1 && <span className="tag">{toolWords.triesUpTo(retries)}</span>}
        {tool.timeout > 0 && (
          <span className="tag">{toolWords.limit(formatDuration(tool.timeout * 1000))}</span>
        )}
        {(tool.tags ?? []).map((tag) => (
          <span className="tag" key={tag}>
            {tag}
          </span>
        ))}
      </div>
    </div>
  );
}

const VERDICTS = {
  allow: toolWords.mayCall,
  ask: toolWords.personAsked,
  deny: toolWords.mayNotCall,
};

function Access({ name }: { name: string }) {
  const explain = useQuery(explainQuery(name));
  if (explain.error) return <Failure what={toolWords.checksFailed} error={explain.error} />;
  if (!explain.data) return <Skeleton />;
  return (
    <div className="stack">
      <section className="card">
        <header>
          <h2>{VERDICTS[explain.data.verdict]}</h2>
          <Link className="more link" to="/explain" search={{ tool: name }}>
            {explaining.askMore}
          </Link>
        </header>
        <Checks checks={explain.data.checks} />
      </section>
      <Remedies steps={explain.data.remedies ?? []} />
    </div>
  );
}

function Schemas({ tool }: { tool: ToolDetail }) {
  return (
    <div className="stack">
      <section className="card padded">
        <h2>{messages.arguments}</h2>
        <Json value={tool.input_schema} />
      </section>
      {tool.output_schema && (
        <section className="card padded">
          <h2>{messages.result}</h2>
          <Json value={tool.output_schema} />
        </section>
      )}
    </div>
  );
}

function Versions({ name }: { name: string }) {
  const versions = useQuery(versionsQuery(name));
  if (versions.error) return <Failure what={toolWords.versionsFailed} error={versions.error} />;
  if (!versions.data) return <Skeleton />;
  return (
    <section className="card clip">
      <Table
        caption={toolWords.versions}
        columns={[toolWords.version, messages.state, toolWords.changed]}
      >
        {versions.data.versions.map((row) => (
          <tr key={row.version}>
            <td className="num">{row.version}</td>
            <td>{row.status}</td>
            <td className="dim num">{row.created_at ? formatWhen(row.created_at) : ""}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

function Calls({ name }: { name: string }) {
  const calls = useQuery(callsQuery({ tool: name, limit: 50 }));
  if (calls.error) return <Failure what={toolWords.callsFailed} error={calls.error} />;
  if (!calls.data) return <Skeleton />;
  if (calls.data.calls.length === 0) return <p className="dim">{toolWords.notCalled}</p>;
  return (
    <section className="card clip">
      <Table
        caption={messages.calls}
        columns={[
          messages.state,
          messages.byWhom,
          toolWords.when,
          { name: messages.took, className: "r" },
        ]}
      >
        {calls.data.calls.map((call) => (
          <tr key={call.call_id}>
            <td>
              <StateMark state={call.status} />
              {call.error_message && <small className="clamp">{call.error_message}</small>}
              {call.credential && <small className="clamp">{nameAccount(call.credential)}</small>}
            </td>
            <td className="opt dim">{call.principal}</td>
            <td className="opt dim num" title={formatFull(call.started_at)}>
              {formatWhen(call.started_at)}
            </td>
            <td className="r dim num">{formatDuration(call.duration_ms)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
