import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type AuditRecord, trailQuery } from "../../api/audit";
import { Empty, Failure, Skeleton } from "../../parts/states";
import { Table } from "../../parts/table";
import { auditWords } from "../../words/audit";
import { formatFull, formatNumber, formatWhen } from "../../words/format";
import { messages } from "../../words/messages";
import { Choice } from "./call_filters";
import { readRecord } from "./record_words";
import type { AuditSearch } from "./search";
import { VerifyBanner } from "./verify_banner";
import { namePeople } from "../../words/people";

/** The audit trail, the newest record first, and the proof that it is whole. */
export function TrailView({ search }: { search: AuditSearch }) {
  const navigate = useNavigate();
  const kind = search.kind ?? "";
  const trail = useInfiniteQuery(trailQuery(kind));
  const pages = trail.data?.pages ?? [];
  const found = pages.flatMap((page) => page.records);
  const names = Object.assign({}, ...pages.map(namePeople)) as Record<string, string>;
  return (
    <>
      <VerifyBanner />
      <form
        className="sieve"
        role="search"
        aria-label={auditWords.filters}
        onSubmit={(event) => event.preventDefault()}
      >
        <Choice
          label={auditWords.kind}
          all={auditWords.everything}
          value={kind}
          options={Object.entries(auditWords.kinds)}
          onChange={(wanted) =>
            void navigate({
              to: "/audit",
              search: { view: "trail", kind: wanted },
              replace: true,
            })
          }
        />
      </form>
      {trail.isPending && <Skeleton rows={8} />}
      {trail.error && (
        <Failure
          what={auditWords.trailFailed}
          error={trail.error}
          retry={() => void trail.refetch()}
        />
      )}
      {trail.isSuccess && found.length === 0 && (
        <Empty title={auditWords.noRecords} pegs={!kind}>
          {auditWords.noRecordsWhy}
        </Empty>
      )}
      {found.length > 0 && (
        <section className="card clip" aria-busy={trail.isPlaceholderData}>
          <Table
            className="record-rows"
            caption={auditWords.trail}
            columns={[
              auditWords.whatWas,
              auditWords.who,
              auditWords.kind,
              auditWords.time,
              { name: auditWords.record, className: "r" },
            ]}
          >
            {found.map((record) => (
              <RecordRow key={record.sequence} record={record} names={names} search={search} />
            ))}
          </Table>
        </section>
      )}
      {trail.hasNextPage && (
        <button
          type="button"
          className="btn spaced"
          disabled={trail.isFetchingNextPage}
          onClick={() => void trail.fetchNextPage()}
        >
          {messages.showOlder}
        </button>
      )}
    </>
  );
}

interface RecordRowProps {
  record: AuditRecord;
  names: Record<string, string>;
  search: AuditSearch;
}

function RecordRow({ record, names, search }: RecordRowProps) {
  const { did, subject, by } = readRecord(record);
  const number = String(record.sequence);
  return (
    <tr aria-current={number === search.record ? "true" : undefined}>
      <td className="what">
        <Link
          className="row-link"
          to="/audit"
          search={{ ...search, record: number }}
          activeOptions={{ exact: true }}
        >
          {did}
        </Link>
        {subject && <small className="mono cut">{subject}</small>}
      </td>
      <td className="dim who-cell">{names[by] ?? by}</td>
      <td className="dim">{auditWords.kinds[record.kind] ?? record.kind}</td>
      <td className="dim num when" title={formatFull(record.at)}>
        {formatWhen(record.at)}
      </td>
      <td className="r dim num took">{formatNumber(record.sequence)}</td>
    </tr>
  );
}
