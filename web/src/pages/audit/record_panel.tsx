import { useQuery } from "@tanstack/react-query";
import { type AuditRecord, recordQuery } from "../../api/audit";
import { Arguments } from "../../parts/decision";
import { Empty, Failure, Skeleton } from "../../parts/states";
import { auditWords } from "../../words/audit";
import { formatFull, formatNumber } from "../../words/format";
import { messages } from "../../words/messages";
import { AsStored, Facts, Panel } from "./panel";
import { readRecord } from "./record_words";
import type { AuditSearch } from "./search";
import { namePeople } from "../../words/people";

/** One record of the trail: what it says, and how it hangs in the chain. */
export function RecordPanel({ search }: { search: AuditSearch }) {
  const found = useQuery(recordQuery(Number(search.record) || 0));
  return (
    <Panel label={auditWords.record} back={{ ...search, record: undefined }}>
      {found.isPending && <Skeleton rows={6} />}
      {found.error && (
        <Failure
          what={auditWords.trailFailed}
          error={found.error}
          retry={() => void found.refetch()}
        />
      )}
      {found.data &&
        (found.data.record ? (
          <Details record={found.data.record} names={namePeople(found.data)} />
        ) : (
          <Empty title={auditWords.noRecord}>{messages.notForYou}</Empty>
        ))}
    </Panel>
  );
}

function Details({ record, names }: { record: AuditRecord; names: Record<string, string> }) {
  const { body, did, subject, by } = readRecord(record);
  return (
    <>
      <div>
        <h2>{did}</h2>
        {subject && <p className="mono">{subject}</p>}
      </div>
      <Facts
        facts={[
          [auditWords.record, formatNumber(record.sequence)],
          [auditWords.time, formatFull(record.at)],
          [auditWords.who, names[by] ?? by],
          [auditWords.organisation, record.tenant],
          [auditWords.kind, auditWords.kinds[record.kind] ?? record.kind],
        ]}
      />
      <Arguments value={body} />
      <div>
        <p className="mini">{auditWords.hash}</p>
        <p className="mono digest">{record.hash}</p>
        <p className="mini">{auditWords.previous}</p>
        <p className="mono digest">{record.previous}</p>
      </div>
      <AsStored value={record} />
    </>
  );
}
