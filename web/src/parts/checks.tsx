import type { Schema } from "../api/client";
import { type Mark, MarkIcon } from "./marks";

/** What was checked before a call, check by check. */
export function Checks({ checks }: { checks: readonly Schema<"Check">[] }) {
  return (
    <ul className="why">
      {checks.map((check) => {
        const mark: Mark = check.result.startsWith("ask")
          ? "wait"
          : check.result === "passed"
            ? "ok"
            : "bad";
        return (
          <li key={check.check}>
            <span className={mark}>
              <MarkIcon mark={mark} />
            </span>
            <b>{check.check.charAt(0).toUpperCase() + check.check.slice(1)}</b>
            <span>{check.result.charAt(0).toUpperCase() + check.result.slice(1)}</span>
          </li>
        );
      })}
    </ul>
  );
}
