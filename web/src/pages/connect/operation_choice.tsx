import { useQuery } from "@tanstack/react-query";
import { Search } from "lucide-react";
import { useState } from "react";
import { toolsQuery } from "../../api/queries";
import { actionOf, listChosen, type Mode } from "../../stream/operations";
import { titleOf } from "../../words/format";
import { sharing } from "../../words/resources";
import { toolWords } from "../../words/tools";

interface OperationChoiceProps {
  /** All that the API has, as names of tools. */
  tools: readonly string[];
  onChoose: (mode: Mode, names: string[]) => void;
}

const MODES: [Mode, string, string][] = [
  ["choose", sharing.thoseIChoose, sharing.newStayOut],
  ["except", sharing.allBut, sharing.newComeIn],
  ["all", sharing.allOperations, sharing.newComeIn],
];
const MOST = 200;

/** Which operations become tools; each way says what happens to new ones of the API. */
export function OperationChoice({ tools, onChoose }: OperationChoiceProps) {
  const { data: known = [] } = useQuery(toolsQuery);
  const [mode, setMode] = useState<Mode>("all");
  const [names, setNames] = useState<ReadonlySet<string>>(new Set());
  const [text, setText] = useState("");
  const facts = new Map(known.map((tool) => [tool.name, tool]));
  const actions = tools.map(actionOf);
  const change = (next: Mode, marked: ReadonlySet<string>) => {
    setMode(next);
    setNames(marked);
    onChoose(next, [...marked]);
  };
  const wanted = text.trim().toLowerCase();
  const shown = tools.filter((name) =>
    `${name} ${facts.get(name)?.title ?? ""} ${facts.get(name)?.tags.join(" ") ?? ""}`
      .toLowerCase()
      .includes(wanted),
  );
  const chosen = new Set(listChosen(actions, mode, names));
  const toggle = (action: string) => {
    const marked = new Set(names);
    if (!marked.delete(action)) marked.add(action);
    change(mode, marked);
  };
  const hint = MODES.find(([value]) => value === mode)?.[2];
  return (
    <section className="card" aria-label={sharing.operations}>
      <header>
        <h2>{sharing.operations}</h2>
        <span className="more num" role="status">
          {sharing.selectedOf(chosen.size, tools.length)}
        </span>
      </header>
      <div className="body">
        <fieldset className="inline-picks">
          <legend className="sr">{sharing.whichBecomeTools}</legend>
          {MODES.map(([value, word]) => (
            <label key={value}>
              <input
                type="radio"
                name="operations-mode"
                checked={mode === value}
                onChange={() => change(value, new Set())}
              />
              {word}
            </label>
          ))}
          <span className="hint">{hint}</span>
        </fieldset>
        {mode !== "all" && (
          <div className="find">
            <Search className="i" aria-hidden="true" />
            <input
              className="in"
              type="search"
              aria-label={sharing.findOperation}
              placeholder={sharing.findOperation}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          </div>
        )}
      </div>
      {mode !== "all" && (
        <ul className="ops">
          {shown.slice(0, MOST).map((name) => {
            const tool = facts.get(name);
            const action = actionOf(name);
            return (
              <li key={name} className={chosen.has(action) ? undefined : "out"}>
                <label className="tick">
                  <input
                    type="checkbox"
                    checked={chosen.has(action)}
                    onChange={() => toggle(action)}
                  />
                  <span>
                    <b>{titleOf(name, tool?.title)}</b>
                    <small className="mono cut">{name}</small>
                  </span>
                </label>
                {tool && (
                  <span className="tag">
                    {tool.effect === "read" ? toolWords.reads : toolWords.writes}
                  </span>
                )}
              </li>
            );
          })}
        </ul>
      )}
      {mode !== "all" && shown.length > MOST && (
        <p className="quiet-row dim">{sharing.andMore(shown.length - MOST)}</p>
      )}
    </section>
  );
}
