import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { sessionQuery } from "../../api/queries";
import { type Account, accountQuery, changeAccount } from "../../api/settings";
import { Field } from "../../parts/field";
import { Failure, Problem, Skeleton } from "../../parts/states";
import { formatDay } from "../../words/format";
import { people } from "../../words/people";
import { settingWords } from "../../words/settings";

/** The name that others read, and what the account is known by. */
export function ProfileCard() {
  const account = useQuery(accountQuery);
  if (account.error)
    return (
      <Failure
        what={settingWords.profileFailed}
        error={account.error}
        retry={() => void account.refetch()}
      />
    );
  if (!account.data) return <Skeleton rows={3} />;
  return <ProfileForm key={account.data.name} account={account.data} />;
}

function ProfileForm({ account }: { account: Account }) {
  const client = useQueryClient();
  const [name, setName] = useState(account.name);
  const save = useMutation({
    mutationFn: () => changeAccount({ name: name.trim() }),
    onSuccess: async (changed) => {
      client.setQueryData(accountQuery.queryKey, changed);
      await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    },
  });
  return (
    <form
      className="card padded"
      aria-label={settingWords.profile}
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <h2>{settingWords.profile}</h2>
      <dl className="kv">
        <dt>{settingWords.handle}</dt>
        <dd>
          <code>{account.handle}</code>
        </dd>
        {account.email && (
          <>
            <dt>{settingWords.email}</dt>
            <dd>{account.email}</dd>
          </>
        )}
        <dt>{settingWords.memberSince}</dt>
        <dd>{formatDay(account.created_at)}</dd>
      </dl>
      <Field
        id="account-name"
        label={settingWords.yourName}
        value={name}
        onChange={setName}
        autoComplete="name"
        hint={settingWords.nameHint}
      />
      <Problem error={save.error} />
      <div className="acts">
        <button
          type="submit"
          className="btn primary"
          disabled={save.isPending || name.trim() === account.name}
        >
          {people.save}
        </button>
      </div>
    </form>
  );
}

/** A new password; the old one is asked for, as somebody else may sit at this browser. */
export function PasswordCard() {
  const client = useQueryClient();
  const { data: account } = useQuery(accountQuery);
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const save = useMutation({
    mutationFn: () => changeAccount({ current_password: current, new_password: next }),
    onSuccess: async () => {
      setCurrent("");
      setNext("");
      await client.invalidateQueries({ queryKey: accountQuery.queryKey });
    },
  });
  if (!account) return null;
  return (
    <form
      className="card padded"
      aria-label={settingWords.passwordTitle}
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <h2>{settingWords.passwordTitle}</h2>
      {account.has_password ? (
        <>
          <Field
            id="current-password"
            label={settingWords.current}
            type="password"
            autoComplete="current-password"
            value={current}
            onChange={setCurrent}
          />
          <Field
            id="new-password"
            label={settingWords.next}
            type="password"
            autoComplete="new-password"
            value={next}
            onChange={setNext}
            hint={settingWords.nextHint}
          />
          <Problem error={save.error} />
          <div className="acts">
            <button
              type="submit"
              className="btn"
              disabled={save.isPending || current === "" || next === ""}
            >
              {settingWords.change}
            </button>
            {save.isSuccess && next === "" && (
              <span className="ok" role="status">
                {settingWords.changed}
              </span>
            )}
          </div>
        </>
      ) : (
        <p className="dim">{settingWords.signsInElsewhere}</p>
      )}
    </form>
  );
}
