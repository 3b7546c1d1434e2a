import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import {
  type DocDetail,
  type Finding,
  pictureAddress,
  reviewDocument,
  textQuery,
} from "../../api/knowledge";
import { DocumentText } from "../../parts/document/document_text";
import { findHits, markQuote } from "../../parts/document/layout";
import { useFocusOnMark } from "../../parts/document/use_focus_on_mark";
import { Failure, Skeleton } from "../../parts/states";
import { canRead } from "../../stream/base_events";
import { evidence } from "../../words/evidence";
import type { DocumentSearch } from "./document_page";
import { LeafBar } from "./leaf_bar";
import { Pieces } from "./pieces";

/** "24370-24473", of an address. */
export function readSpan(span = ""): [number, number] | null {
  const match = /^(\d{1,9})-(\d{1,9})$/.exec(span);
  return match ? [Number(match[1]), Number(match[2])] : null;
}

/** A page of a document: its text by pieces, or its picture; and the pieces beside it. */
export function Leaf({ document, head }: { document: DocDetail; head: ReactNode }) {
  const search = useSearch({ strict: false }) as DocumentSearch;
  const span = readSpan(search.span);
  const page = Number(search.page) || undefined;
  const revision = Number(search.revision) || undefined;
  const place = {
    ...(span && !page ? { offset: span[0] } : { page: page ?? 1 }),
    ...(revision && revision !== document.revision ? { revision } : {}),
  };
  const text = useQuery({
    ...textQuery(document.base, document.id, place),
    enabled: canRead(document),
  });
  const shown = text.data;
  const quote = useMemo(
    () => (shown && span ? markQuote(shown, span[0], span[1]) : null),
    [shown, search.span],
  );
  const hits = useMemo(
    () => (shown && search.q ? findHits(shown.text, search.q) : []),
    [shown, search.q],
  );
  const marks = useMemo(() => (quote ? [quote] : hits), [quote, hits]);
  const ref = useFocusOnMark(shown ? `${shown.page} ${shown.revision} ${search.span}` : "");
  const isPicture = search.view === "picture" && (shown?.page ?? 0) > 0;
  return (
    <div className="runpage docpage">
      <div className="runmain">
        {head}
        {shown && shown.revision < shown.current_revision && (
          <div className="banner">
            <span>{evidence.earlierText}</span>
            <Link className="btn sm" to="." search={{ page: search.page }}>
              {evidence.todaysText}
            </Link>
          </div>
        )}
        <section
          className="card leaf"
          aria-label={
            shown && shown.pages > 0
              ? evidence.pageOf(shown.page, shown.pages, shown.label)
              : evidence.wholeDocument
          }
        >
          <h2 className="sr">
            {shown && shown.pages > 0
              ? evidence.pageOf(shown.page, shown.pages, shown.label)
              : evidence.asText}
          </h2>
          {shown && <LeafBar page={shown} search={search} hits={hits} />}
          <div className="sheet" ref={ref}>
            {!canRead(document) && <p className="dim quiet-row">{evidence.noText}</p>}
            {text.isLoading && <Skeleton rows={5} />}
            {text.error && (
              <Failure
                what={evidence.textFailed}
                missing={evidence.noText}
                error={text.error}
                retry={() => void text.refetch()}
              />
            )}
            {shown && isPicture && (
              <img
                className="picture"
                src={pictureAddress(document.base, document.id, shown.page)}
                alt={evidence.pictureOf(shown.page)}
              />
            )}
            {shown && !isPicture && (
              <DocumentText
                page={shown}
                marks={marks}
                isNumbered
                decide={
                  document.may_change && document.state !== "held"
                    ? (finding) => <Decide document={document} finding={finding} />
                    : undefined
                }
              />
            )}
          </div>
        </section>
      </div>
      {shown && <Pieces document={document} page={shown} span={span} />}
    </div>
  );
}

/** Changes what was decided about the places of a document that are not what they seem. */
function Decide({ document, finding }: { document: DocDetail; finding: Finding }) {
  const client = useQueryClient();
  const decide = useMutation({
    mutationFn: () =>
      reviewDocument(document.base, document.id, finding.is_left_out ? "use" : "leave_out"),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["document", document.base, document.id] }),
        client.invalidateQueries({ queryKey: ["text", document.base, document.id] }),
      ]),
  });
  return (
    <button
      type="button"
      className="btn sm"
      disabled={decide.isPending}
      onClick={() => decide.mutate()}
    >
      {finding.is_left_out ? evidence.useAsText : evidence.leaveOut}
    </button>
  );
}
