import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schema } from "../../api/client";
import { type Explanation, explanationQuery } from "../../api/explain";
import { type Mark, MarkIcon } from "../../parts/marks";
import { explaining } from "../../words/explain";
import { messages } from "../../words/messages";
import type { ExplainSearch } from "./explain_page";
import { namePerson } from "../../words/people";

const MOST = 12;

interface EverybodyProps {
  search: ExplainSearch;
  people: readonly Schema<"PersonAnswer">[];
  /** The name of the reader. */
  you: string;
}

/** What each person may do with the tool; a name leads to the checks. */
export function Everybody({ search, people, you }: EverybodyProps) {
  const { tool = "", who = "", args = "" } = search;
  const shown = [{ handle: "", name: you }, ...people].slice(0, MOST);
  const found = useQueries({
    queries: shown.map((person) => explanationQuery(tool, person.handle, args)),
  });
  return (
    <section className="card">
      <header>
        <h2>{explaining.everybody}</h2>
      </header>
      <table className="tbl slim">
        <caption className="cap">{explaining.everybodyOf(tool)}</caption>
        <thead className="sr">
          <tr>
            <th scope="col">{explaining.who}</th>
            <th scope="col">{messages.result}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((person, index) => (
            <tr key={person.handle} className={person.handle === who ? "here" : undefined}>
              <td>
                <Link to="/explain" search={{ ...search, who: person.handle || undefined }}>
                  <b>{namePerson(person.name, person.handle)}</b>
                </Link>
              </td>
              <td className="r">
                <Verdict explanation={found[index]?.data} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const MARKS: Record<Explanation["verdict"], Mark> = { allow: "ok", ask: "wait", deny: "bad" };

function Verdict({ explanation }: { explanation: Explanation | undefined }) {
  if (!explanation) return null;
  const { visible, verdict } = explanation;
  const mark = visible ? MARKS[verdict] : "off";
  return (
    <span className={`state ${mark}`}>
      <MarkIcon mark={mark} small /> {explaining.verdicts[visible ? verdict : "unseen"]}
    </span>
  );
}
