import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { send } from "../../api/client";
import { Dialog } from "../../parts/dialog";
import { Field } from "../../parts/field";
import { Problem } from "../../parts/states";
import { messages } from "../../words/messages";
import { people } from "../../words/people";

const ROLES = ["member", "editor", "administrator"];

interface NewServiceProps {
  organisation: string;
  /** Given the handle of the account that was made. */
  onDone: (handle: string) => void;
  onClose: () => void;
}

/** A form for a service account: its handle, and what it may do. */
export function NewService({ organisation, onDone, onClose }: NewServiceProps) {
  const client = useQueryClient();
  const [handle, setHandle] = useState("");
  const [name, setName] = useState("");
  const [role, setRole] = useState("member");
  const make = useMutation({
    mutationFn: () =>
      send("POST", `/organisations/${organisation}/services`, {
        handle: handle.trim(),
        name: name.trim(),
        roles: [role],
      }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["people"] });
      await client.invalidateQueries({ queryKey: ["members", organisation] });
      onDone(handle.trim());
    },
  });
  return (
    <Dialog label={people.newService} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <h2>{people.newService}</h2>
        <Field
          id="service-handle"
          label={people.handle}
          value={handle}
          onChange={setHandle}
          hint={people.handleHint}
        />
        <Field id="service-name" label={people.titleOptional} value={name} onChange={setName} />
        <fieldset className="pickone">
          <legend>{people.role}</legend>
          {ROLES.map((item) => (
            <label key={item}>
              <input
                type="radio"
                name="service-role"
                checked={role === item}
                onChange={() => setRole(item)}
              />
              <b>{people.roleWords[item]?.[0]}</b>
              <small>{people.roleWords[item]?.[1]}</small>
            </label>
          ))}
        </fieldset>
        <p className="hint">{people.servicesNever}</p>
        <Problem error={make.error} />
        <div className="acts">
          <button
            type="submit"
            className="btn primary"
            disabled={make.isPending || handle.trim() === ""}
          >
            {people.makeService}
          </button>
          <button type="button" className="btn quiet" onClick={onClose}>
            {messages.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
