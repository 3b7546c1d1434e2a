import type { Ask } from "../../api/knowledge";
import { evidence } from "../../words/evidence";
import { formatDuration } from "../../words/format";
import { EndIcon } from "./ask_list";
import { ConfidenceCard } from "./confidence_card";
import { ConflictCard } from "./conflict_card";
import { EvidenceCard } from "./evidence_card";
import { LookedAt } from "./looked_at";

const TITLES = {
  enough: evidence.enough,
  conflict: evidence.disagrees,
  not_enough: evidence.notEnough,
  found: evidence.found,
  nothing: evidence.foundNothing,
  failed: evidence.failed,
} as const;

/** What a question gave: enough evidence, evidence that disagrees, or not enough. */
export function Outcome({ ask }: { ask: Ask }) {
  const time = formatDuration(ask.took * 1000);
  const isEnough = ask.end !== "not_enough";
  const isNone = ask.end === "nothing";
  return (
    <>
      <div className="verdict" role="status">
        <EndIcon end={ask.end} />
        <div>
          <h1>{TITLES[ask.end]}</h1>
          <p className="faint num">
            {ask.mode === "simple"
              ? evidence.piecesFound(ask.hits.length, time)
              : isEnough && ask.quotes.length > 0
                ? evidence.quotes(ask.quotes.length, time)
                : evidence.nothingQuoted(time)}
            {ask.left_out > 0 && ` · ${evidence.leftOut(ask.left_out)}`}
          </p>
          {ask.reason && <p className="dim">{ask.reason}</p>}
        </div>
      </div>
      {isEnough &&
        ask.conflicts.map((item) => (
          <ConflictCard key={`${item.first} ${item.second}`} conflict={item} quotes={ask.quotes} />
        ))}
      {(ask.end === "not_enough" || isNone || ask.looks.some((look) => look.failure)) && (
        <LookedAt ask={ask} />
      )}
      {ask.parts_of_confidence && (
        <ConfidenceCard
          confidence={ask.parts_of_confidence}
          parts={ask.parts}
          isEnough={isEnough}
        />
      )}
      {ask.hits.length > 0 && <EvidenceCard ask={ask} />}
      {isEnough && !isNone && <LookedAt ask={ask} isShort />}
    </>
  );
}
