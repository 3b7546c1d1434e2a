import { Link } from "@tanstack/react-router";
import { Check, CircleX, EqualNot, ListFilter, SearchX } from "lucide-react";
import type { AskSummary } from "../../api/knowledge";
import { evidence, formatScore } from "../../words/evidence";
import { formatWhen, isToday } from "../../words/format";
import { messages } from "../../words/messages";

const ICONS = {
  enough: ["ok", Check],
  conflict: ["unsure", EqualNot],
  not_enough: ["", SearchX],
  found: ["", ListFilter],
  nothing: ["", SearchX],
  failed: ["bad", CircleX],
} as const;

/** The icon of how a question ended. */
export function EndIcon({ end }: { end: AskSummary["end"] }) {
  const [kind, Icon] = ICONS[end];
  return (
    <span className={`tile ${kind}`}>
      <Icon className="i" aria-hidden="true" />
    </span>
  );
}

function describeEnd(item: AskSummary): string {
  switch (item.end) {
    case "conflict":
      return evidence.twoDisagreeSub;
    case "not_enough":
      return evidence.notEnough;
    case "failed":
      return evidence.failed;
    case "found":
      return evidence.found;
    case "nothing":
      return evidence.foundNothing;
    default:
      return evidence.citedSub(item.citations, formatScore(item.confidence ?? 0));
  }
}

interface AskListProps {
  base: string;
  asks: readonly AskSummary[];
  chosen: string;
}

/** The caller's last questions to the base. */
export function AskList({ base, asks, chosen }: AskListProps) {
  const groups: [string, AskSummary[]][] = [
    [messages.today, asks.filter((item) => isToday(item.at))],
    [messages.earlier, asks.filter((item) => !isToday(item.at))],
  ];
  return (
    <div className="items">
      {groups
        .filter(([, items]) => items.length > 0)
        .map(([name, items]) => (
          <section key={name} aria-label={name}>
            <h2>{name}</h2>
            {items.map((item) => (
              <Link
                key={item.call}
                className="item put with-tile"
                to="/knowledge/$base/ask/$call"
                params={{ base, call: item.call }}
                activeOptions={{ exact: true }}
                aria-current={item.call === chosen ? "true" : undefined}
              >
                <EndIcon end={item.end} />
                <b>{item.question}</b>
                <span className="faint cut">{describeEnd(item)}</span>
                <span className="side-tag faint num">{formatWhen(item.at)}</span>
              </Link>
            ))}
          </section>
        ))}
    </div>
  );
}
