import { Check, ChevronRight } from "lucide-react";
import type { Ask, Citation, Hit } from "../../api/knowledge";
import { DocumentText } from "../../parts/document/document_text";
import { makeOffsets, type Mark } from "../../parts/document/layout";
import { PlaceLink } from "../../parts/document/place_link";
import { evidence, formatScore } from "../../words/evidence";

/** The pieces that were found: those that are cited first, the others folded. */
export function EvidenceCard({ ask }: { ask: Ask }) {
  const isSimple = ask.mode === "simple";
  const isEnough = ask.end !== "not_enough";
  const cited = isSimple
    ? ask.hits
    : ask.hits.filter((hit) => isEnough && hit.citations.length > 0);
  const others = ask.hits.filter((hit) => !cited.includes(hit));
  const isNone = cited.length === 0;
  const title = isNone ? evidence.nearest : isSimple ? evidence.found : evidence.evidence;
  const shown = isNone ? others : cited;
  return (
    <section className="card" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {!isSimple && (
          <span className="faint num">
            {isNone ? evidence.notCited : evidence.ofCited(cited.length, ask.hits.length)}
          </span>
        )}
        <span className="more">{evidence.scores}</span>
      </header>
      <ol className="evs">
        {shown.map((hit) => (
          <Piece key={hit.piece} hit={hit} ask={ask} />
        ))}
      </ol>
      {!isNone && others.length > 0 && (
        <details className="unused">
          <summary>
            <ChevronRight className="i s" aria-hidden="true" />
            <span>{evidence.unused(others.length)}</span>
          </summary>
          <ol>
            {others.map((hit) => (
              <Piece key={hit.piece} hit={hit} ask={ask} />
            ))}
          </ol>
        </details>
      )}
    </section>
  );
}

function Piece({ hit, ask }: { hit: Hit; ask: Ask }) {
  const isEnough = ask.end !== "not_enough";
  const quotes = ask.quotes.filter((quote) => isEnough && hit.citations.includes(quote.number));
  const offset = makeOffsets(hit.text);
  const marks: Mark[] = quotes.map((quote) => ({
    start: offset(quote.start - hit.start),
    end: offset(quote.end - hit.start),
    kind: "quote",
  }));
  const page = {
    ...{ document: hit.document, revision: 1, current_revision: 1, pages: 0, label: "" },
    ...{ page: hit.page, start: hit.start, end: hit.end, next_offset: null, text: hit.text },
    ...{ pieces: [], findings: [] },
  };
  return (
    <li className="ev">
      <div className="ev-top">
        {quotes.map((quote) => (
          <span className="cite" key={quote.number}>
            {quote.number}
          </span>
        ))}
        <b className="cut">{hit.title}</b>
        {hit.page > 0 && <span className="faint num">{evidence.pageNumber(hit.page)}</span>}
        {ask.mode !== "simple" && <Support quotes={quotes} />}
        <PlaceLink
          className="btn sm"
          label={`${evidence.open}: ${hit.title}`}
          place={quotes[0] ?? hit}
        >
          {evidence.open}
        </PlaceLink>
      </div>
      {(hit.heading || hit.edition) && (
        <p className="path">
          {[hit.edition && evidence.edition(hit.edition), hit.heading.replaceAll(" > ", " › ")]
            .filter(Boolean)
            .join(" · ")}
        </p>
      )}
      <div className="quoted-text">
        <DocumentText page={page} marks={marks} />
      </div>
      <Scores hit={hit} quotes={quotes} ask={ask} />
    </li>
  );
}

const FULL = 0.6;

function Support({ quotes }: { quotes: readonly Citation[] }) {
  if (quotes.length === 0) return <span className="state off">{evidence.doesNotSay}</span>;
  const best = Math.max(...quotes.map((quote) => quote.alignment ?? 1));
  return best >= FULL ? (
    <span className="state ok">
      <Check className="i s" aria-hidden="true" /> {evidence.supports}
    </span>
  ) : (
    <span className="state off">{evidence.inPart}</span>
  );
}

/** A score for each stage that ran; one that ran and did not find the piece says so. */
function Scores({ hit, quotes, ask }: { hit: Hit; quotes: readonly Citation[]; ask: Ask }) {
  const ran = new Set(
    ask.looks.filter((look) => look.base === hit.base).flatMap((it) => it.stages),
  );
  const aligned = quotes.flatMap((quote) => quote.alignment ?? []);
  const stage = (name: string): [string, number | null][] =>
    ran.has(name) || hit.stages[name]
      ? [[evidence.stages[name] ?? name, hit.stages[name]?.score ?? null]]
      : [];
  const rows: [string, number | null][] = [
    ...stage("words"),
    ...stage("meaning"),
    ...stage("rerank"),
    [evidence.stages.fused ?? "", hit.score],
    ...(aligned.length > 0
      ? [[evidence.stages.alignment ?? "", Math.max(...aligned)] as [string, number]]
      : []),
  ];
  return (
    <dl className="scores">
      {rows.map(([name, value]) => (
        <div
          key={name}
          style={{ "--v": `${Math.round((value ?? 0) * 100)}%` } as React.CSSProperties}
        >
          <dt>{name}</dt>
          <dd className="num">
            {value === null ? (
              <span className="faint">{evidence.notFound}</span>
            ) : (
              formatScore(value)
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
