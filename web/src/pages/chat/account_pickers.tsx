import { useQuery } from "@tanstack/react-query";
import { type Credential, credentialsQuery } from "../../api/credentials";
import { messages } from "../../words/messages";

interface AccountPickersProps {
  /** By source, the name of the account; others use the default. */
  value: Readonly<Record<string, string>>;
  onChange: (value: Record<string, string>) => void;
}

/** With which account the chat calls each source of which one has several; else nothing. */
export function AccountPickers({ value, onChange }: AccountPickersProps) {
  const { data: credentials = [] } = useQuery(credentialsQuery);
  return listChoices(credentials, value).map(({ source, names, byDefault }) => (
    <select
      key={source}
      className="pick"
      aria-label={messages.accountOf(source)}
      value={value[source] ?? ""}
      onChange={(event) => onChange(choose(value, source, event.target.value))}
    >
      <option value="">{messages.defaultAccount(source, byDefault)}</option>
      {names.map((name) => (
        <option key={name} value={name}>
          {messages.namedAccount(source, name)}
        </option>
      ))}
    </select>
  ));
}

interface Choice {
  source: string;
  names: string[];
  /** The name of the default. */
  byDefault: string;
}

/** The sources with several accounts, or with a chosen one that is no longer there. */
export function listChoices(
  credentials: readonly Credential[],
  value: Readonly<Record<string, string>>,
): Choice[] {
  const sources = [...credentials.map((item) => item.source), ...Object.keys(value)];
  return [...new Set(sources)]
    .sort()
    .map((source) => {
      const own = credentials.filter((item) => item.source === source);
      const chosen = value[source];
      const names = new Set([...own.map((item) => item.name), ...(chosen ? [chosen] : [])]);
      const byDefault = own.find((item) => item.is_default)?.name ?? "";
      return { source, names: [...names], byDefault };
    })
    .filter((choice) => choice.names.length > 1 || value[choice.source] !== undefined);
}

function choose(
  value: Readonly<Record<string, string>>,
  source: string,
  name: string,
): Record<string, string> {
  const { [source]: _, ...others } = value;
  return name ? { ...others, [source]: name } : others;
}
