import { GitCompare } from "lucide-react";
import type { Doc } from "../../api/knowledge";
import { knowledge } from "../../words/knowledge";
import { MarkIcon } from "../marks";

const STEPS = {
  converting: knowledge.converting,
  cutting: knowledge.cutting,
  embedding: knowledge.embedding,
  storing: knowledge.storing,
} as const;

/** How far a document is, in a word, with the reason or the count. */
export function DocumentState({ item }: { item: Doc }) {
  const state = item.state;
  switch (state) {
    case "failed":
      return (
        <>
          <span className="state bad">
            <MarkIcon mark="bad" small /> {knowledge.failed}
          </span>
          <small>
            {item.reason || knowledge.because[item.code] || ""}
            {item.code && <code className="code-of"> {item.code}</code>}
          </small>
        </>
      );
    case "held":
      return (
        <>
          <span className="state unsure">
            <GitCompare className="i s" aria-hidden="true" /> {knowledge.held}
          </span>
          <small>{item.reason}</small>
        </>
      );
    case "waiting":
      return (
        <>
          <span className="state faint">
            <MarkIcon mark="next" small /> {knowledge.waiting}
          </span>
          <small>{knowledge.nextInLine}</small>
        </>
      );
    case "ready":
      return (
        <>
          <span className="state ok">
            <MarkIcon mark="ok" small /> {item.replaced_by ? knowledge.replaced : knowledge.ready}
          </span>
          {item.replaced_by && <small>{knowledge.replacedWhy}</small>}
        </>
      );
    default:
      return (
        <>
          <span className="state run">
            <MarkIcon mark="run" small /> {STEPS[state]}
          </span>
          <small>{countOf(item)}</small>
          <Strip item={item} />
        </>
      );
  }
}

function countOf(item: Doc): string {
  const counts =
    item.total === 0
      ? ""
      : item.state === "converting"
        ? knowledge.pageOf(item.done, item.total)
        : knowledge.piecesOf(item.done, item.total);
  return [counts, item.answers ? knowledge.oldAnswers : ""].filter(Boolean).join(". ");
}

/** The four steps: convert, cut, embed, store. */
function Strip({ item }: { item: Doc }) {
  const share = item.total > 0 ? Math.round((100 * item.done) / item.total) : 12;
  return (
    <>
      <span className="prog" aria-hidden="true">
        {[1, 2, 3, 4].map((step) =>
          step < item.step ? (
            <i key={step} className="d" />
          ) : step === item.step ? (
            <i
              key={step}
              className="r part"
              style={{ "--v": `${share}%` } as React.CSSProperties}
            />
          ) : (
            <i key={step} />
          ),
        )}
      </span>
      <span className="sr">{knowledge.stepOf(item.step)}</span>
    </>
  );
}
