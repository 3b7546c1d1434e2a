import type { ReactNode } from "react";
import type { Source } from "../../api/queries";
import { type Mark, MarkIcon } from "../../parts/marks";
import { boardWords } from "../../words/board";
import { formatCount } from "../../words/format";
import { messages } from "../../words/messages";

/** The state of a source as an icon and a word. */
export function SourceState({ source }: { source: Source }) {
  const [mark, word] = stateOf(source);
  return (
    <span className={`state ${mark === "next" ? "faint" : mark}`}>
      <MarkIcon mark={mark} small /> {word}
    </span>
  );
}

/** What there is to know of a source: why it fails, or what of it is missing. */
export function SourceNote({ source }: { source: Source }) {
  return <>{noteOf(source)}</>;
}

function stateOf(source: Source): [Mark, string] {
  if (source.status === "failed") return ["bad", boardWords.silent];
  if (source.health === "unhealthy") return ["bad", boardWords.unhealthy];
  if (source.held > 0) return ["unsure", boardWords.held(source.held)];
  if (source.health === "degraded") return ["wait", boardWords.degraded];
  if (source.status !== "ok") return ["run", messages.loading];
  return ["ok", boardWords.ready];
}

function noteOf(source: Source): ReactNode {
  if (source.reason) return source.reason;
  if (source.health_reason) return source.health_reason;
  if (source.unavailable > 0)
    return (
      <details>
        <summary>{boardWords.notAvailable(formatCount(source.unavailable, "tool"))}</summary>
        <ul className="reasons">
          {(source.unavailable_reasons ?? []).map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      </details>
    );
  return "";
}

/** The worst first. */
export function rank(source: Source): number {
  return { bad: 0, unsure: 1, wait: 2, run: 3 }[stateOf(source)[0] as string] ?? 4;
}
