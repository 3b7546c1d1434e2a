import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Schema } from "../../api/client";
import { toolQuery, toolsQuery } from "../../api/queries";
import { SchemaForm } from "../../parts/schema_form";
import { explaining } from "../../words/explain";
import type { ExplainSearch } from "./explain_page";
import { namePerson } from "../../words/people";

interface AskerProps {
  search: ExplainSearch;
  /** About whom the caller may ask, besides itself. */
  people: readonly Schema<"PersonAnswer">[];
}

/** Whose rights, which tool, and with which arguments; the answer has an address. */
export function Asker({ search, people }: AskerProps) {
  const navigate = useNavigate();
  const { data: tools = [] } = useQuery(toolsQuery);
  const [tool, setTool] = useState(search.tool ?? "");
  const [who, setWho] = useState(search.who ?? "");
  const [value, setValue] = useState<unknown>(() => readArguments(search.args));
  const known = tools.some((item) => item.name === tool);
  const { data: detail } = useQuery({ ...toolQuery(tool), enabled: known });
  const hasFields = Object.keys(detail?.input_schema.properties ?? {}).length > 0;
  const ask = () => {
    void navigate({
      to: "/explain",
      search: {
        tool: tool.trim() || undefined,
        who: who || undefined,
        args: value === undefined ? undefined : JSON.stringify(value),
      },
    });
  };
  return (
    <form
      className="card"
      aria-label={explaining.form}
      onSubmit={(event) => {
        event.preventDefault();
        ask();
      }}
    >
      <div className="asker">
        {people.length > 0 && (
          <div className="field">
            <label htmlFor="who">{explaining.who}</label>
            <select
              id="who"
              className="in"
              value={who}
              onChange={(event) => setWho(event.target.value)}
            >
              <option value="">{explaining.you}</option>
              {people.map((person) => (
                <option key={person.handle} value={person.handle}>
                  {namePerson(person.name, person.handle)}
                </option>
              ))}
            </select>
          </div>
        )}
        <div className="field">
          <label htmlFor="tool">{explaining.tool}</label>
          <input
            id="tool"
            className="in mono"
            list="tool-names"
            autoComplete="off"
            value={tool}
            onChange={(event) => {
              setTool(event.target.value);
              setValue(undefined);
            }}
          />
          <datalist id="tool-names">
            {tools.slice(0, MOST).map((item) => (
              <option key={item.name} value={item.name} />
            ))}
          </datalist>
        </div>
        <button type="submit" className="btn" disabled={tool.trim() === ""}>
          {explaining.explain}
        </button>
      </div>
      {detail && hasFields && (
        <details className="moreset" open={value !== undefined}>
          <summary>{explaining.withArguments}</summary>
          <p className="hint">{explaining.argumentsHint}</p>
          <SchemaForm schema={detail.input_schema} value={value ?? {}} onChange={setValue} />
        </details>
      )}
    </form>
  );
}

const MOST = 500;

/** The arguments in the address; undefined for none, or for something that is no JSON. */
function readArguments(text: string | undefined): unknown {
  try {
    return text ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
