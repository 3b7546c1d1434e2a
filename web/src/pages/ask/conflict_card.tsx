import { EqualNot } from "lucide-react";
import type { Citation, Conflict } from "../../api/knowledge";
import { PlaceLink } from "../../parts/document/place_link";
import { evidence } from "../../words/evidence";

interface ConflictCardProps {
  conflict: Conflict;
  quotes: readonly Citation[];
}

/** Two quotes that contradict each other, side by side; none of them is chosen. */
export function ConflictCard({ conflict, quotes }: ConflictCardProps) {
  const pair = [conflict.first, conflict.second].flatMap(
    (number) => quotes.find((item) => item.number === number) ?? [],
  );
  return (
    <section
      className="approve unsure-card"
      aria-label={evidence.conflict(conflict.first, conflict.second)}
    >
      <header>
        <EqualNot className="i" aria-hidden="true" />
        {evidence.twoDisagree}
        <span className="time">{evidence.judges[conflict.judge]}</span>
      </header>
      <div className="in-card">
        {conflict.about && <h2>{conflict.about}</h2>}
        <div className="versus">
          {pair.map((quote) => (
            <figure key={quote.number}>
              <figcaption>
                <span className="cite">{quote.number}</span>
                <span>
                  <b>{quote.title}</b>
                  <small>
                    {[
                      quote.edition && evidence.edition(quote.edition),
                      quote.page > 0 && evidence.pageNumber(quote.page),
                      quote.heading.split(" > ").at(-1),
                    ]
                      .filter(Boolean)
                      .join(" · ")}
                  </small>
                </span>
              </figcaption>
              <blockquote>{quote.is_deleted ? evidence.wasDeleted : `“${quote.quote}”`}</blockquote>
              {!quote.is_deleted && (
                <PlaceLink place={quote} className="link">
                  {evidence.openPage(quote.page)}
                </PlaceLink>
              )}
            </figure>
          ))}
        </div>
        <p className="said-why">{evidence.neither}</p>
      </div>
    </section>
  );
}
