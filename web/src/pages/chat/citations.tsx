import { Link } from "@tanstack/react-router";
import { EqualNot } from "lucide-react";
import { type ReactNode, useCallback, useMemo } from "react";
import type { Citation, Conflict } from "../../api/knowledge";
import type { Exchange } from "../../api/queries";
import { CiteContext, Markdown } from "../../parts/markdown";
import { MarkIcon } from "../../parts/marks";
import type { Answer } from "../../stream/answers";
import { asksBase, placeConflicts } from "../../stream/cited";
import "../../styles/knowledge.css";
import { evidence } from "../../words/evidence";

export interface Cited {
  exchange: Exchange;
  citations: readonly Citation[];
  conflicts: readonly Conflict[];
  /** Whether numbers in the text are quotes, or not checked yet. */
  isCited: boolean;
}

/** The quotes of an answer: those that are stored with it, or those that came so far. */
export function useCited(exchange: Exchange, answer: Answer | undefined): Cited {
  return useMemo(() => {
    const stored = exchange.citations;
    const citations = stored.length > 0 ? stored : (answer?.citations ?? []);
    const conflicts = (stored.length > 0 ? exchange.conflicts : answer?.conflicts) ?? [];
    const isAsked = answer?.parts.some((part) => part.kind === "call" && asksBase(part.tool));
    return { exchange, citations, conflicts, isCited: citations.length > 0 || isAsked === true };
  }, [exchange, answer]);
}

/** Draws numbers of quotes; one that is not checked is left out. */
export function Cites({ cited, children }: { cited: Cited; children: ReactNode }) {
  const { citations, exchange, isCited } = cited;
  const cite = useCallback(
    (number: number) => {
      const citation = citations.find((item) => item.number === number);
      return citation ? <CiteLink citation={citation} of={exchange.id} /> : null;
    },
    [citations, exchange.id],
  );
  return <CiteContext value={isCited ? cite : null}>{children}</CiteContext>;
}

/** A text of the answer; a contradiction stands behind the paragraph that meets it. */
export function CitedText({ text, caret, cited }: { text: string; caret: boolean; cited: Cited }) {
  const inserts = useCallback(
    (blocks: readonly string[]) =>
      placeConflicts(blocks, cited.conflicts).map((conflicts) =>
        conflicts.map((item) => (
          <Disagree key={`${item.first} ${item.second}`} conflict={item} cited={cited} />
        )),
      ),
    [cited],
  );
  return (
    <Markdown
      text={text}
      caret={caret}
      under={1}
      inserts={cited.conflicts.length > 0 ? inserts : undefined}
    />
  );
}

function CiteLink({ citation, of }: { citation: Citation; of: string }) {
  return (
    <Link
      className="cite"
      to="."
      search={(before) => ({ ...before, source: String(citation.number), of })}
      aria-label={evidence.sourceOf(
        citation.number,
        citation.is_deleted ? evidence.deletedDocument : citation.title,
        citation.page,
      )}
      data-cite={`${of} ${citation.number}`}
      resetScroll={false}
    >
      {citation.number}
    </Link>
  );
}

function Disagree({ conflict, cited }: { conflict: Conflict; cited: Cited }) {
  const pair = [conflict.first, conflict.second].flatMap(
    (number) => cited.citations.find((item) => item.number === number) ?? [],
  );
  return (
    <section className="disagree" aria-label={evidence.conflict(conflict.first, conflict.second)}>
      <header>
        <EqualNot className="i s" aria-hidden="true" />
        <b>{evidence.twoDisagree}</b>
        {conflict.about && <span>{conflict.about}</span>}
      </header>
      <ul>
        {pair.map((item) => (
          <li key={item.number}>
            <span className="cite" aria-hidden="true">
              {item.number}
            </span>
            <Link
              to="."
              search={(before) => ({
                ...before,
                source: String(item.number),
                of: cited.exchange.id,
              })}
              resetScroll={false}
            >
              {item.title}
              {item.page > 0 && <span className="faint"> {evidence.pageNumber(item.page)}</span>}
              {item.quote && <q>{item.quote}</q>}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The sources of an answer, that they were checked, and what was left out. */
export function Refs({ cited, chosen }: { cited: Cited; chosen: number }) {
  const { citations, exchange } = cited;
  const leftOut = exchange.left_out;
  const checked = citations.filter((item) => !item.is_deleted).length;
  if (citations.length === 0 && leftOut === 0) return null;
  return (
    <>
      {citations.length > 0 && (
        <div className="refs" role="group" aria-label={evidence.sources}>
          {citations.map((item) => (
            <Link
              key={item.number}
              to="."
              search={(before) => ({ ...before, source: String(item.number), of: exchange.id })}
              activeOptions={{ exact: true }}
              aria-current={item.number === chosen ? "true" : undefined}
              resetScroll={false}
            >
              <span className="cite">{item.number}</span>
              <span className={item.is_deleted ? "gone" : undefined}>
                {item.is_deleted ? evidence.deletedDocument : item.title}
                {item.page > 0 && ` · ${evidence.pageNumber(item.page)}`}
              </span>
            </Link>
          ))}
        </div>
      )}
      <p className="checked num">
        {checked > 0 && (
          <>
            <span className="ok">
              <MarkIcon mark="ok" small plain />
            </span>
            {evidence.checked(checked)}
          </>
        )}
        {leftOut > 0 && (
          <>
            {checked > 0 && <span className="sep">·</span>}
            {evidence.leftOut(leftOut)}
          </>
        )}
      </p>
    </>
  );
}
