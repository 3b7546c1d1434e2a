import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ArrowUpRight, ChevronLeft, ChevronRight, EqualNot, X } from "lucide-react";
import { useEffect, useMemo, useRef } from "react";
import { type Citation, type Conflict, textQuery } from "../../api/knowledge";
import { DocumentText } from "../../parts/document/document_text";
import { markQuote } from "../../parts/document/layout";
import { PlaceLink } from "../../parts/document/place_link";
import { useFocusOnMark } from "../../parts/document/use_focus_on_mark";
import { Failure, Skeleton } from "../../parts/states";
import { listAgainst } from "../../stream/cited";
import { evidence, formatScore } from "../../words/evidence";
import { knowledge } from "../../words/knowledge";

interface SourcePanelProps {
  citation: Citation;
  /** Of the same answer. */
  citations: readonly Citation[];
  conflicts: readonly Conflict[];
  /** The id of the answer. */
  of: string;
}

/** What a number of an answer stands on: the page of the document, with the quote marked. */
export function SourcePanel({ citation, citations, conflicts, of }: SourcePanelProps) {
  const navigate = useNavigate();
  const ref = useRef<HTMLElement>(null);
  const show = (number?: number) =>
    void navigate({
      to: ".",
      search: (before) => ({
        ...before,
        source: number === undefined ? undefined : String(number),
        of: number === undefined ? undefined : of,
      }),
      resetScroll: false,
    });
  const close = () => {
    show();
    document.querySelector<HTMLElement>(`[data-cite="${of} ${citation.number}"]`)?.focus();
  };
  const at = citations.indexOf(citation);
  const go = (by: number) => {
    const next = citations[at + by];
    if (next) show(next.number);
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (target.matches("input, textarea, select") || document.querySelector("dialog[open]"))
        return;
      if (event.key === "Escape") close();
      else if (event.key === "[") go(-1);
      else if (event.key === "]") go(1);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  });
  const against = listAgainst(conflicts, citation.number);
  return (
    <aside className="source" aria-label={evidence.source(citation.number)} ref={ref}>
      <div className="source-top">
        <div className="line">
          <span className="cite">{citation.number}</span>
          <h2 className="cut">{citation.is_deleted ? evidence.deletedDocument : citation.title}</h2>
          {!citation.is_deleted && (
            <PlaceLink className="icon-btn" place={citation} label={evidence.openDocument}>
              <ArrowUpRight className="i" aria-hidden="true" />
            </PlaceLink>
          )}
          <button
            type="button"
            className="icon-btn"
            aria-label={evidence.closeSource}
            onClick={close}
          >
            <X className="i" aria-hidden="true" />
          </button>
        </div>
        <p className="faint num">
          {[
            citation.page > 0 && knowledge.page(citation.page),
            citation.heading.replaceAll(" > ", " › "),
            citation.edition && evidence.edition(citation.edition),
          ]
            .filter(Boolean)
            .join(" · ")}
        </p>
      </div>
      {citation.is_deleted ? (
        <p className="source-text">{evidence.wasDeleted}</p>
      ) : (
        <Text key={`${of} ${citation.number}`} citation={citation} />
      )}
      {(against.length > 0 || !citation.is_deleted) && (
        <div className="source-facts">
          {against.map((item) => {
            const other = item.first === citation.number ? item.second : item.first;
            return (
              <p className="against" key={other}>
                <EqualNot className="i s" aria-hidden="true" />
                <span>
                  {evidence.says(other)}
                  {item.about && evidence.about(item.about)}.{" "}
                  <button type="button" className="as-link link" onClick={() => show(other)}>
                    {evidence.compare}
                  </button>
                </span>
              </p>
            );
          })}
          {!citation.is_deleted && (
            <dl className="kv">
              <dt>{evidence.quote}</dt>
              <dd>
                <span className="ok">{evidence.wordForWord}</span>
              </dd>
              {citation.alignment !== null && (
                <>
                  <dt>{evidence.alignment}</dt>
                  <dd className="num">{formatScore(citation.alignment)}</dd>
                </>
              )}
              <dt>{evidence.place}</dt>
              <dd className="num">{evidence.characters(citation.start, citation.end)}</dd>
            </dl>
          )}
        </div>
      )}
      {citations.length > 1 && (
        <div className="source-foot">
          <button type="button" className="btn sm" disabled={at <= 0} onClick={() => go(-1)}>
            <ChevronLeft className="i s" aria-hidden="true" /> {evidence.previous}
          </button>
          <span className="faint num">{evidence.hitOf(at + 1, citations.length)}</span>
          <button
            type="button"
            className="btn sm"
            disabled={at >= citations.length - 1}
            onClick={() => go(1)}
          >
            {evidence.next} <ChevronRight className="i s" aria-hidden="true" />
          </button>
        </div>
      )}
    </aside>
  );
}

function Text({ citation }: { citation: Citation }) {
  const { base, document, start, end, revision } = citation;
  const text = useQuery(textQuery(base, document, { offset: start, revision }));
  const page = text.data;
  const marks = useMemo(() => {
    const quote = page && markQuote(page, start, end);
    return quote ? [quote] : [];
  }, [page, start, end]);
  const ref = useFocusOnMark(page ? `${page.document} ${start}` : "");
  return (
    <div className="source-text" ref={ref} tabIndex={0} role="group" aria-label={evidence.asText}>
      {text.isPending && <Skeleton rows={4} />}
      {text.error && (
        <Failure what={evidence.textFailed} missing={evidence.wasDeleted} error={text.error} />
      )}
      {page && page.revision < page.current_revision && (
        <p className="note">{evidence.earlierText}</p>
      )}
      {page && <DocumentText page={page} marks={marks} />}
    </div>
  );
}
