import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { callQuery, errorQuery } from "../../api/audit";
import { type Call, toolQuery } from "../../api/queries";
import { Arguments } from "../../parts/decision";
import { Json, layOut } from "../../parts/json";
import { StateMark } from "../../parts/marks";
import { Empty, Failure, Skeleton } from "../../parts/states";
import { auditWords } from "../../words/audit";
import { formatDuration, formatFull, formatNumber, spellOrder, titleOf } from "../../words/format";
import { messages } from "../../words/messages";
import { AsStored, Facts, Panel } from "./panel";
import type { AuditSearch } from "./search";
import { namePeople } from "../../words/people";

interface CallPanelProps {
  search: AuditSearch;
  readsAll: boolean;
}

/** One call: how it ended, who made it, and what is recorded of it. */
export function CallPanel({ search, readsAll }: CallPanelProps) {
  const found = useQuery(callQuery(search.call ?? ""));
  return (
    <Panel label={auditWords.call} back={{ ...search, call: undefined }}>
      {found.isPending && <Skeleton rows={6} />}
      {found.error && (
        <Failure
          what={auditWords.callsFailed}
          error={found.error}
          retry={() => void found.refetch()}
        />
      )}
      {found.data &&
        (found.data.call ? (
          <Details
            call={found.data.call}
            name={namePeople(found.data)[found.data.call.principal] ?? ""}
            readsAll={readsAll}
          />
        ) : (
          <Empty title={auditWords.noCall}>{messages.notForYou}</Empty>
        ))}
    </Panel>
  );
}

function Details({ call, name, readsAll }: { call: Call; name: string; readsAll: boolean }) {
  const tool = useQuery({ ...toolQuery(call.tool), retry: false });
  const notes = [call.cached && auditWords.fromCache, call.replayed && auditWords.replayed].filter(
    Boolean,
  );
  return (
    <>
      <div>
        <h2>{titleOf(call.tool, tool.data?.title)}</h2>
        <p className="mono">
          {tool.data ? (
            <Link className="link" to="/tools/$name" params={{ name: call.tool }}>
              {call.tool}
            </Link>
          ) : (
            call.tool
          )}
        </p>
        <p className="outcome">
          <StateMark state={call.status} word={auditWords.outcomes[call.status]} />
          {notes.length > 0 && <span className="faint"> {notes.join(", ")}</span>}
        </p>
        {call.error_message && <p className="dim">{spellOrder(call.error_message)}</p>}
        {call.untrusted && <p className="faint">{auditWords.untrusted}</p>}
      </div>
      {call.error_id && readsAll && <Cause id={call.error_id} />}
      <Facts
        facts={[
          [auditWords.who, name || call.principal],
          [auditWords.organisation, call.tenant],
          [auditWords.time, formatFull(call.started_at)],
          [messages.took, formatDuration(call.duration_ms)],
          [auditWords.tries, call.attempts > 1 ? formatNumber(call.attempts) : ""],
          [auditWords.source, call.source],
          [auditWords.version, call.version],
          [auditWords.effect, call.effect],
          [auditWords.decision, decisionOf(call)],
          [auditWords.account, call.credential],
          [auditWords.insteadOf, call.instead_of && <code>{call.instead_of}</code>],
          [
            auditWords.run,
            call.run_id && (
              <Link className="link" to="/runs/$id" params={{ id: call.run_id }}>
                {messages.openRun}
              </Link>
            ),
          ],
          [auditWords.model, modelOf(call)],
          [auditWords.errorId, call.error_id && <code>{call.error_id}</code>],
          [auditWords.callId, <code key="id">{call.call_id}</code>],
          [auditWords.key, call.idempotency_key && <code>{call.idempotency_key}</code>],
        ]}
      />
      {call.arguments ? (
        <div>
          <p className="mini">{messages.arguments}</p>
          <Arguments value={layOut(call.arguments)} />
        </div>
      ) : (
        <div>
          <p className="mini">{auditWords.digest}</p>
          <p className="mono digest">{call.arguments_digest}</p>
          {readsAll && <p className="faint small">{auditWords.notStored}</p>}
        </div>
      )}
      <AsStored value={call} />
    </>
  );
}

function decisionOf(call: Call): string {
  const word = auditWords.decisions[call.decision] ?? "";
  return [word, spellOrder(call.reason)].filter(Boolean).join(": ");
}

function modelOf(call: Call): string {
  if (!call.model) return "";
  const tokens = call.tokens === null ? "" : messages.tokens(formatNumber(call.tokens));
  const cost = call.cost === null ? "" : auditWords.dollars(call.cost);
  return auditWords.modelUse([call.model, tokens].filter(Boolean).join(", "), cost);
}

/** What the caller of a tool was not told: asked for only by those who want to read it. */
function Cause({ id }: { id: string }) {
  const [isAsked, setAsked] = useState(false);
  const cause = useQuery({ ...errorQuery(id), enabled: isAsked });
  if (!isAsked)
    return (
      <button type="button" className="btn sm" onClick={() => setAsked(true)}>
        {auditWords.showDetail}
      </button>
    );
  return (
    <div>
      <p className="mini">{auditWords.cause}</p>
      {cause.isPending && <Skeleton rows={2} />}
      {cause.error && <Failure what={auditWords.detailFailed} error={cause.error} />}
      {cause.data && <Json value={String(cause.data.detail ?? cause.data.message ?? "")} />}
    </div>
  );
}
