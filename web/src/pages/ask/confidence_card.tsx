import type { Ask } from "../../api/knowledge";
import { evidence, formatScore } from "../../words/evidence";

interface ConfidenceCardProps {
  confidence: NonNullable<Ask["parts_of_confidence"]>;
  parts: Ask["parts"];
  isEnough: boolean;
}

const WEIGHTS = { retrieval: 0.4, alignment: 0.4, coverage: 0.2 } as const;

/** How sure it is, of which three parts, and from where on it is enough. */
export function ConfidenceCard({ confidence, parts, isEnough }: ConfidenceCardProps) {
  const found = parts.filter((part) => part.citations.length > 0).length;
  const shares = {
    retrieval: WEIGHTS.retrieval * confidence.retrieval,
    alignment: WEIGHTS.alignment * confidence.alignment,
    coverage: WEIGHTS.coverage * confidence.coverage,
  };
  const share = (value: number) =>
    ({ "--v": `${Math.round(value * 100)}%` }) as React.CSSProperties;
  const { threshold } = confidence;
  return (
    <section className="card conf" aria-label={evidence.confidence}>
      <dl className="facts">
        <div>
          <dt>{evidence.confidence}</dt>
          <dd>
            {formatScore(confidence.value)}
            <small>{isEnough ? evidence.howWell : evidence.tooLittle}</small>
          </dd>
        </div>
        <div>
          <dt>{evidence.retrieval}</dt>
          <dd>
            {formatScore(shares.retrieval)}
            <small>{evidence.bestThree(0.4, formatScore(confidence.retrieval))}</small>
          </dd>
        </div>
        <div>
          <dt>{evidence.alignment}</dt>
          <dd>
            {formatScore(shares.alignment)}
            <small>{evidence.bestThree(0.4, formatScore(confidence.alignment))}</small>
          </dd>
        </div>
        <div>
          <dt>{evidence.coverage}</dt>
          <dd>
            {formatScore(shares.coverage)}
            <small>
              {evidence.partsFound(formatScore(confidence.coverage), found, parts.length)}
            </small>
          </dd>
        </div>
      </dl>
      <div className="sumbar" aria-hidden="true">
        {Object.entries(shares).map(([name, value]) => (
          <i key={name} style={share(value)} />
        ))}
        <b style={share(threshold)} />
      </div>
      <p className="faint scale num">
        <span style={{ left: `${Math.min(88, Math.max(12, threshold * 100))}%` }}>
          {evidence.enoughFrom(formatScore(threshold))}
        </span>
      </p>
    </section>
  );
}
