import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { Download } from "lucide-react";
import { exportAddress, readsAudit, TRAIL_EXPORT } from "../../api/audit";
import { sessionQuery } from "../../api/queries";
import { usePageTitle } from "../../parts/page_title";
import { auditWords } from "../../words/audit";
import { messages } from "../../words/messages";
import { CallPanel } from "./call_panel";
import { CallsView } from "./calls_view";
import { RecordPanel } from "./record_panel";
import { type AuditSearch, readQuery } from "./search";
import { TrailView } from "./trail_view";
import "../../styles/records.css";

/** Who called what and when, and for those who may read it the trail of changes and decisions. */
export function AuditPage() {
  usePageTitle(messages.audit);
  const search = useSearch({ strict: false }) as AuditSearch;
  const { data: session } = useQuery(sessionQuery);
  const readsAll = readsAudit(session);
  const isTrail = search.view === "trail" && readsAll;
  const isOpen = Boolean(isTrail ? search.record : search.call);
  return (
    <div className={isOpen ? "runpage records" : "runpage records alone"} data-open={isOpen}>
      <div className="runmain">
        <div className="head">
          <div>
            <h1>{messages.audit}</h1>
            <p>{readsAll ? auditWords.what : auditWords.whatOwn}</p>
          </div>
          <Exports search={search} isTrail={isTrail} />
        </div>
        {readsAll && (
          <nav className="tabs" aria-label={auditWords.whichRecords}>
            <Link
              to="/audit"
              activeOptions={{ exact: true }}
              aria-current={isTrail ? undefined : "page"}
            >
              {auditWords.calls}
            </Link>
            <Link
              to="/audit"
              search={{ view: "trail" }}
              activeOptions={{ exact: true }}
              aria-current={isTrail ? "page" : undefined}
            >
              {auditWords.trail}
            </Link>
          </nav>
        )}
        {isTrail ? (
          <TrailView search={search} />
        ) : (
          <CallsView search={search} readsAll={readsAll} />
        )}
      </div>
      {isTrail
        ? search.record && <RecordPanel key={search.record} search={search} />
        : search.call && <CallPanel key={search.call} search={search} readsAll={readsAll} />}
    </div>
  );
}

function Exports({ search, isTrail }: { search: AuditSearch; isTrail: boolean }) {
  const offers: [string, string][] = isTrail
    ? [[TRAIL_EXPORT, auditWords.exportTrail]]
    : [
        [exportAddress(readQuery(search), "csv"), auditWords.exportCsv],
        [exportAddress(readQuery(search), "jsonl"), auditWords.exportJson],
      ];
  return (
    <div className="acts">
      {offers.map(([address, word]) => (
        <a key={word} className="btn" href={address} download>
          <Download className="i s" aria-hidden="true" /> {word}
        </a>
      ))}
    </div>
  );
}
