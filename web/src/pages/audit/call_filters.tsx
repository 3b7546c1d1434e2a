import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useId, useState } from "react";
import { peopleQuery } from "../../api/explain";
import { hasAccount } from "../../api/people";
import { sessionQuery, sourcesQuery, type Tool } from "../../api/queries";
import { auditWords } from "../../words/audit";
import type { AuditSearch } from "./search";
import { namePerson } from "../../words/people";

const MOST_OFFERED = 30;

interface CallFiltersProps {
  search: AuditSearch;
  readsAll: boolean;
  tools: readonly Tool[];
}

/** Which calls are shown: each filter is in the address of the page. */
export function CallFilters({ search, readsAll, tools }: CallFiltersProps) {
  const navigate = useNavigate();
  const { data: session } = useQuery(sessionQuery);
  const asksWho = readsAll && hasAccount(session);
  const { data: people = [] } = useQuery({ ...peopleQuery, enabled: asksWho });
  const { data: sources } = useQuery(sourcesQuery);
  const change = (part: Partial<AuditSearch>) =>
    void navigate({
      to: "/audit",
      search: { ...search, call: undefined, ...part },
      replace: true,
    });
  const names = [...new Set((sources?.sources ?? []).map((item) => item.name))].sort();
  return (
    <form
      className="sieve"
      role="search"
      aria-label={auditWords.filters}
      onSubmit={(event) => event.preventDefault()}
    >
      {asksWho && (
        <Choice
          label={auditWords.person}
          all={auditWords.everyone}
          value={search.who ?? ""}
          options={people.map((item) => [item.handle, namePerson(item.name, item.handle)])}
          onChange={(who) => change({ who })}
        />
      )}
      <ToolField
        key={search.tool ?? ""}
        value={search.tool ?? ""}
        tools={tools}
        onChange={(tool) => change({ tool })}
      />
      <Choice
        label={auditWords.source}
        all={auditWords.anySource}
        value={search.source ?? ""}
        options={names.map((name) => [name, name])}
        onChange={(source) => change({ source })}
      />
      <Choice
        label={auditWords.outcome}
        all={auditWords.anyOutcome}
        value={search.outcome ?? ""}
        options={Object.entries(auditWords.outcomes)}
        onChange={(outcome) => change({ outcome })}
      />
      <Day
        label={auditWords.from}
        value={search.from ?? ""}
        onChange={(from) => change({ from })}
      />
      <Day
        label={auditWords.until}
        value={search.until ?? ""}
        onChange={(until) => change({ until })}
      />
    </form>
  );
}

function Labelled({ id, label, children }: { id: string; label: string; children: ReactNode }) {
  return (
    <div className="sieve-field">
      <label htmlFor={id}>{label}</label>
      {children}
    </div>
  );
}

interface ChoiceProps {
  label: string;
  all: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChange: (value: string | undefined) => void;
}

export function Choice({ label, all, value, options, onChange }: ChoiceProps) {
  const id = useId();
  // An address may name what is no longer there: it is shown, so that it can be taken away.
  const isKnown = value === "" || options.some(([item]) => item === value);
  return (
    <Labelled id={id} label={label}>
      <select
        id={id}
        className="in"
        value={value}
        onChange={(event) => onChange(event.target.value || undefined)}
      >
        <option value="">{all}</option>
        {!isKnown && <option value={value}>{value}</option>}
        {options.map(([item, word]) => (
          <option key={item} value={item}>
            {word}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

interface TextFilterProps {
  value: string;
  onChange: (value: string | undefined) => void;
}

function ToolField({ value, onChange, tools }: TextFilterProps & { tools: readonly Tool[] }) {
  const id = useId();
  const [typed, setTyped] = useState(value);
  const wanted = typed.trim().toLowerCase();
  const offered = tools
    .filter((tool) => `${tool.name} ${tool.title}`.toLowerCase().includes(wanted))
    .slice(0, MOST_OFFERED);
  const take = (text: string) => text.trim() !== value && onChange(text.trim() || undefined);
  return (
    <Labelled id={id} label={auditWords.tool}>
      <input
        id={id}
        className="in"
        type="search"
        list={`${id}-tools`}
        placeholder={auditWords.anyTool}
        value={typed}
        onChange={(event) => {
          const text = event.target.value;
          setTyped(text);
          // What was chosen from the list, or emptied, counts at once; what is typed with Enter.
          if (text === "" || tools.some((tool) => tool.name === text)) take(text);
        }}
        onKeyDown={(event) => event.key === "Enter" && take(typed)}
        onBlur={() => take(typed)}
      />
      <datalist id={`${id}-tools`}>
        {offered.map((tool) => (
          <option key={tool.name} value={tool.name}>
            {tool.title}
          </option>
        ))}
      </datalist>
    </Labelled>
  );
}

function Day({ label, value, onChange }: TextFilterProps & { label: string }) {
  const id = useId();
  return (
    <Labelled id={id} label={label}>
      <input
        id={id}
        className="in"
        type="date"
        value={value}
        onChange={(event) => onChange(event.target.value || undefined)}
      />
    </Labelled>
  );
}
