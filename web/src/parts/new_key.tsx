import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { type Schema, send } from "../api/client";
import { Dialog } from "./dialog";
import { Field } from "./field";
import { Problem } from "./states";
import { messages } from "../words/messages";
import { people } from "../words/people";

type Made = Schema<"NewKeyAnswer">;

const DAYS = [30, 90, 365];

interface NewKeyProps {
  /** Of the keys in the API: those of the caller, or of a service account. */
  path: string;
  onMade: (key: Made) => Promise<unknown>;
  onClose: () => void;
}

/** A form for a key: its name, what it may do, and when it ends. */
export function NewKey({ path, onMade, onClose }: NewKeyProps) {
  const [name, setName] = useState("");
  const [isNarrow, setNarrow] = useState(false);
  const [scopes, setScopes] = useState("");
  const [days, setDays] = useState("90");
  const wanted = scopes.split(/[\s,]+/).filter(Boolean);
  const make = useMutation({
    mutationFn: () =>
      send<Made>("POST", path, {
        name: name.trim(),
        scopes: isNarrow ? wanted : ["*"],
        days: days ? Number(days) : null,
      }),
    onSuccess: onMade,
  });
  const isIncomplete = name.trim() === "" || (isNarrow && wanted.length === 0);
  return (
    <Dialog label={people.newKey} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <h2>{people.newKey}</h2>
        <Field
          id="key-name"
          label={people.name}
          value={name}
          onChange={setName}
          hint={people.keyNameHint}
        />
        <fieldset className="pickone">
          <legend>{people.may}</legend>
          <label>
            <input type="radio" name="may" checked={!isNarrow} onChange={() => setNarrow(false)} />
            <b>{people.mayAll}</b>
          </label>
          <label>
            <input type="radio" name="may" checked={isNarrow} onChange={() => setNarrow(true)} />
            <b>{people.maySome}</b>
          </label>
        </fieldset>
        {isNarrow && (
          <Field
            id="key-scopes"
            label={people.scopes}
            value={scopes}
            onChange={setScopes}
            hint={people.scopesHint}
          />
        )}
        <div className="field">
          <label htmlFor="key-days">{people.ends}</label>
          <select
            id="key-days"
            className="in"
            value={days}
            onChange={(event) => setDays(event.target.value)}
          >
            {DAYS.map((count) => (
              <option key={count} value={count}>
                {people.inDays(count)}
              </option>
            ))}
            <option value="">{people.never}</option>
          </select>
        </div>
        <Problem error={make.error} />
        <div className="acts">
          <button type="submit" className="btn primary" disabled={make.isPending || isIncomplete}>
            {people.makeKey}
          </button>
          <button type="button" className="btn quiet" onClick={onClose}>
            {messages.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
