import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { send } from "../../api/client";
import { connectAccount, type Credential } from "../../api/credentials";
import { sourcesQuery } from "../../api/queries";
import { Field } from "../../parts/field";
import { Problem } from "../../parts/states";
import { secrets } from "../../words/credentials";
import { messages } from "../../words/messages";

const CONSENT = "oauth2";
/** The name of an account that was given none. */
const DEFAULT_NAME = "default";
const KINDS = ["bearer", "api_key", "basic", "oauth2_client", CONSENT] as const;
const USERS: Record<string, string> = {
  basic: secrets.userName,
  oauth2_client: secrets.clientId,
};

interface CredentialFormProps {
  /** The source that asks for one; empty for any. */
  source: string;
  /** Those that the caller has. */
  credentials: readonly Credential[];
  onDone: () => Promise<unknown>;
}

/** A credential for a source: a value to store, or an account to connect by consent. */
export function CredentialForm(props: CredentialFormProps) {
  const { data } = useQuery(sourcesQuery);
  const [source, setSource] = useState(props.source);
  const [kind, setKind] = useState<(typeof KINDS)[number]>("bearer");
  const [name, setName] = useState("");
  const [username, setUsername] = useState("");
  const [value, setValue] = useState("");
  const [isShared, setShared] = useState(false);
  const add = useMutation({
    mutationFn: async () => {
      if (kind === CONSENT) return connectAccount(source, name.trim());
      await send("POST", "/credentials", {
        source,
        kind,
        value,
        ...(USERS[kind] ? { username: username.trim() } : {}),
        ...(name.trim() ? { name: name.trim() } : {}),
        ...(isShared ? { shared: true } : {}),
      });
      await props.onDone();
    },
  });
  const isConsent = kind === CONSENT;
  const taken = props.credentials.filter((item) => item.source === source).map((it) => it.name);
  const isTaken = taken.includes(name.trim() || DEFAULT_NAME);
  return (
    <form
      className="card padded"
      aria-label={secrets.add}
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate();
      }}
    >
      <h2>{secrets.add}</h2>
      <div className="field">
        <label htmlFor="credential-source">{secrets.source}</label>
        <input
          id="credential-source"
          className="in mono"
          list="source-names"
          autoComplete="off"
          value={source}
          onChange={(event) => setSource(event.target.value)}
        />
        <datalist id="source-names">
          {data?.sources.map((item) => (
            <option key={item.name} value={item.name} />
          ))}
        </datalist>
      </div>
      <div className="field">
        <label htmlFor="credential-kind">{secrets.kind}</label>
        <select
          id="credential-kind"
          className="in"
          value={kind}
          onChange={(event) => setKind(event.target.value as (typeof KINDS)[number])}
        >
          {KINDS.map((item) => (
            <option key={item} value={item}>
              {secrets.kinds[item]}
            </option>
          ))}
        </select>
        {isConsent && <span className="hint">{secrets.consentHint}</span>}
      </div>
      {USERS[kind] && (
        <Field id="credential-user" label={USERS[kind]} value={username} onChange={setUsername} />
      )}
      {!isConsent && (
        <Field
          id="credential-value"
          label={secrets.value}
          type="password"
          value={value}
          onChange={setValue}
          hint={secrets.valueHint}
        />
      )}
      <Field
        id="credential-name"
        label={secrets.accountName}
        value={name}
        onChange={setName}
        hint={isTaken ? secrets.namesTaken(taken.join(", ")) : secrets.accountHint}
      />
      {!isConsent && (
        <div className="pickone">
          <label>
            <input
              type="checkbox"
              checked={isShared}
              onChange={(event) => setShared(event.target.checked)}
            />
            <b>{secrets.share}</b>
            <small>{secrets.shareHint}</small>
          </label>
        </div>
      )}
      <Problem error={add.error} />
      <div className="acts">
        <button
          type="submit"
          className="btn primary"
          disabled={
            add.isPending || isTaken || source.trim() === "" || (!isConsent && value === "")
          }
        >
          {isConsent ? secrets.orConsent : secrets.store}
        </button>
        <button type="button" className="btn quiet" onClick={() => void props.onDone()}>
          {messages.cancel}
        </button>
      </div>
    </form>
  );
}
