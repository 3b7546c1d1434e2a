import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { historyQuery } from "../../api/audit";
import { type Call, toolsQuery } from "../../api/queries";
import { StateMark } from "../../parts/marks";
import { Empty, Failure, Skeleton } from "../../parts/states";
import { Table } from "../../parts/table";
import { auditWords } from "../../words/audit";
import { formatDuration, formatFull, formatWhen, titleOf } from "../../words/format";
import { messages } from "../../words/messages";
import { CallFilters } from "./call_filters";
import { type AuditSearch, isNarrowed, readQuery } from "./search";
import { namePeople } from "../../words/people";

interface CallsViewProps {
  search: AuditSearch;
  /** Whether the caller sees the calls of others. */
  readsAll: boolean;
}

/** Calls, the newest first, page by page. */
export function CallsView({ search, readsAll }: CallsViewProps) {
  const calls = useInfiniteQuery(historyQuery(readQuery(search)));
  const pages = calls.data?.pages ?? [];
  const found = pages.flatMap((page) => page.calls);
  const names = Object.assign({}, ...pages.map(namePeople)) as Record<string, string>;
  const { data: tools = [] } = useQuery(toolsQuery);
  const titles = useMemo(() => new Map(tools.map((tool) => [tool.name, tool.title])), [tools]);
  const isEmpty = calls.isSuccess && found.length === 0;
  return (
    <>
      <CallFilters search={search} readsAll={readsAll} tools={tools} />
      {calls.isPending && <Skeleton rows={8} />}
      {calls.error && (
        <Failure
          what={auditWords.callsFailed}
          error={calls.error}
          retry={() => void calls.refetch()}
        />
      )}
      {isEmpty &&
        (isNarrowed(search) ? (
          <Empty
            title={auditWords.noneFits}
            actions={
              <Link to="/audit" className="btn">
                {auditWords.clear}
              </Link>
            }
          >
            {auditWords.noneFitsWhy}
          </Empty>
        ) : (
          <Empty title={auditWords.noCalls} pegs>
            {auditWords.noCallsWhy}
          </Empty>
        ))}
      {found.length > 0 && (
        <section className="card clip" aria-busy={calls.isPlaceholderData}>
          <Table
            className="record-rows"
            caption={auditWords.calls}
            columns={[
              auditWords.whatWas,
              auditWords.who,
              auditWords.outcome,
              auditWords.time,
              { name: messages.took, className: "r" },
            ]}
          >
            {found.map((call) => (
              <CallRow
                key={call.call_id}
                call={call}
                name={names[call.principal] ?? call.principal}
                title={titleOf(call.tool, titles.get(call.tool))}
                search={search}
              />
            ))}
          </Table>
        </section>
      )}
      {calls.hasNextPage && (
        <button
          type="button"
          className="btn spaced"
          disabled={calls.isFetchingNextPage}
          onClick={() => void calls.fetchNextPage()}
        >
          {messages.showOlder}
        </button>
      )}
    </>
  );
}

interface CallRowProps {
  call: Call;
  name: string;
  title: string;
  search: AuditSearch;
}

function CallRow({ call, name, title, search }: CallRowProps) {
  return (
    <tr aria-current={call.call_id === search.call ? "true" : undefined}>
      <td className="what">
        <Link
          className="row-link"
          to="/audit"
          search={{ ...search, call: call.call_id }}
          activeOptions={{ exact: true }}
        >
          {title}
        </Link>
        <small className="mono cut">{call.tool}</small>
      </td>
      <td className="dim who-cell">{name}</td>
      <td>
        <StateMark state={call.status} word={auditWords.outcomes[call.status]} />
      </td>
      <td className="dim num when" title={formatFull(call.started_at)}>
        {formatWhen(call.started_at)}
      </td>
      <td className="r dim num took">{formatDuration(call.duration_ms)}</td>
    </tr>
  );
}
