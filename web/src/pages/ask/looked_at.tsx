import { Link } from "@tanstack/react-router";
import { Check, CircleX, Minus } from "lucide-react";
import type { Ask } from "../../api/knowledge";
import { evidence } from "../../words/evidence";

/** What was searched, what each part of the question found, and what did not answer. */
export function LookedAt({ ask, isShort = false }: { ask: Ask; isShort?: boolean }) {
  const waiting = ask.looks.filter((look) => look.not_ready.length > 0);
  const parts = isShort || ask.parts.length < 2 ? [] : ask.parts;
  return (
    <section className="card" aria-label={evidence.lookedAt}>
      <header>
        <h2>{evidence.lookedAt}</h2>
      </header>
      <ul className="why">
        {ask.looks.map((look) => (
          <li key={look.base}>
            {look.failure ? (
              <CircleX className="i s bad" aria-hidden="true" />
            ) : (
              <Check className="i s ok" aria-hidden="true" />
            )}
            <b>{look.failure ? evidence.notSearched : evidence.searched}</b>
            <span>
              {look.failure ||
                evidence.searchedWhat(
                  look.pieces,
                  look.documents,
                  look.stages.includes("meaning") ? evidence.byBoth : evidence.byWords,
                )}
              {look.skipped.map((stage) => ` ${evidence.skipped[stage] ?? ""}`)}
            </span>
          </li>
        ))}
        {parts.map((part, index) => (
          <li key={index}>
            {part.citations.length > 0 ? (
              <Check className="i s ok" aria-hidden="true" />
            ) : (
              <Minus className="i s faint" aria-hidden="true" />
            )}
            <b>{part.text}</b>
            <span>{evidence.partFound(part.citations.length)}</span>
          </li>
        ))}
        {waiting.map((look) => (
          <li key={`w${look.base}`}>
            <Minus className="i s faint" aria-hidden="true" />
            <b>{evidence.notSearched}</b>
            <span>
              {evidence.notReady(look.not_ready.length)}: {look.not_ready.slice(0, 3).join(", ")}
              {". "}
              <Link className="link" to="/knowledge/$base" params={{ base: look.base }}>
                {evidence.seeThem}
              </Link>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
