import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { rolesQuery } from "../api/people";
import { messages } from "../words/messages";
import { people } from "../words/people";
import { roleWords } from "../words/roles";
import { Dialog } from "./dialog";
import { Problem } from "./states";

interface RoleDialogProps {
  title: string;
  roles: readonly string[];
  /** Of which organisation, for the roles that it has defined. */
  organisation?: string;
  /** The verb on the button. */
  action: string;
  hint?: string;
  error: Error | null;
  isPending: boolean;
  onChoose: (roles: string[]) => void;
  onClose: () => void;
}

/** Roles to tick, each with what it is for. */
export function RoleDialog(props: RoleDialogProps) {
  const { title, action, hint, error, isPending, onChoose, onClose } = props;
  const [roles, setRoles] = useState(new Set(props.roles));
  const { data: own = [] } = useQuery({
    ...rolesQuery(props.organisation ?? ""),
    enabled: Boolean(props.organisation),
  });
  const offered: [string, string, string][] = [
    ...Object.entries(people.roleWords).map(([role, [name, what]]): [string, string, string] => [
      role,
      name,
      what,
    ]),
    ...own.map((item): [string, string, string] => [
      item.name,
      item.title || item.name,
      roleWords.ownWhat,
    ]),
  ];
  const toggle = (role: string) => {
    const changed = new Set(roles);
    if (!changed.delete(role)) changed.add(role);
    setRoles(changed);
  };
  return (
    <Dialog label={title} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          onChoose([...roles]);
        }}
      >
        <h2>{title}</h2>
        {hint && <p className="dim">{hint}</p>}
        <fieldset className="pickone">
          <legend>{people.roles}</legend>
          {offered.map(([role, name, what]) => (
            <label key={role}>
              <input type="checkbox" checked={roles.has(role)} onChange={() => toggle(role)} />
              <b>{name}</b>
              <small>{what}</small>
            </label>
          ))}
        </fieldset>
        <Problem error={error} />
        <div className="acts">
          <button type="submit" className="btn primary" disabled={isPending || roles.size === 0}>
            {action}
          </button>
          <button type="button" className="btn quiet" onClick={onClose}>
            {messages.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
