import { EyeOff } from "lucide-react";
import type { Explanation } from "../../api/explain";
import { type Mark, MarkIcon } from "../../parts/marks";
import { explaining } from "../../words/explain";

const MARKS: Record<string, Mark> = { allow: "ok", ask: "wait", deny: "bad" };
const WORDS: Record<string, string> = {
  allow: explaining.passes,
  ask: explaining.asks,
  deny: explaining.denies,
};

interface DecisionProps {
  explanation: Explanation;
  /** Whose; empty for the reader. */
  name: string;
}

/** The decision, and each check in the order of a real call; the one that decides is lit. */
export function Decision({ explanation, name }: DecisionProps) {
  const [title, why] = sentenceOf(explanation, name);
  const isUnseen = !explanation.visible;
  const mark = MARKS[explanation.verdict] ?? "unsure";
  const decisive = findDecisive(explanation);
  const isDenied = explanation.verdict === "deny" && decisive >= 0;
  const judged = isDenied ? explanation.checks.slice(0, decisive + 1) : explanation.checks;
  return (
    <section className="card decision" aria-labelledby="verdict">
      <div className="top-v">
        <div className="verdict">
          <span className={`tile ${isUnseen ? "" : mark}`}>
            {isUnseen ? (
              <EyeOff className="i" aria-hidden="true" />
            ) : (
              <MarkIcon mark={mark} plain />
            )}
          </span>
          <div>
            <h2 id="verdict">{title}</h2>
            <p className="dim">{why}</p>
          </div>
        </div>
      </div>
      <ol className="why checks" aria-label={explaining.checks}>
        {judged.map((check, index) => (
          <CheckRow
            key={check.check}
            name={check.check}
            result={check.result}
            decides={index === decisive}
          />
        ))}
        {judged.length < explanation.checks.length && (
          <li className="unreached">
            <span className="faint">
              <MarkIcon mark="next" />
            </span>
            <b>{explaining.rest}</b>
            <div>
              <p>{explaining.restWhy}</p>
            </div>
          </li>
        )}
      </ol>
    </section>
  );
}

interface CheckRowProps {
  name: string;
  /** "passed", or the verdict with its reason behind a colon. */
  result: string;
  decides: boolean;
}

function CheckRow({ name, result, decides }: CheckRowProps) {
  const [verdict, ...rest] = result.split(": ");
  const mark = MARKS[verdict ?? ""] ?? "ok";
  const words = rest.length > 0 ? rest.join(": ") : result;
  return (
    <li className={decides && mark !== "ok" ? "decides" : undefined}>
      <span className={mark}>
        <MarkIcon mark={mark} plain />
      </span>
      <b>
        {upper(name)}
        <span className="sr">
          {" "}
          {WORDS[verdict ?? ""] ?? explaining.passes}
          {decides && `, ${explaining.decides}`}
        </span>
      </b>
      <div>
        <p>{upper(words)}</p>
      </div>
    </li>
  );
}

/** Which check gave the decision: the first that denies, else the one that says what was decided. */
function findDecisive({ checks, verdict, reason }: Explanation): number {
  const said = checks.findIndex((check) => check.result === `${verdict}: ${reason}`);
  return said >= 0 ? said : checks.findIndex((check) => check.result.startsWith(`${verdict}: `));
}

function sentenceOf({ verdict, visible, reason }: Explanation, name: string): [string, string] {
  const who = name || explaining.you;
  if (!visible)
    return [
      explaining.unseen(name ? explaining.does(name) : explaining.doYou),
      `${upper(reason)}. ${explaining.unseenWhy}`,
    ];
  if (verdict === "allow") return [explaining.may(who), explaining.mayWhy];
  if (verdict === "ask") return [explaining.mayAsked(who), upper(reason)];
  return [explaining.mayNot(who), upper(reason)];
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
