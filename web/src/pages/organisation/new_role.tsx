import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { send } from "../../api/client";
import { toolsQuery } from "../../api/queries";
import { Dialog } from "../../parts/dialog";
import { Field } from "../../parts/field";
import { Problem } from "../../parts/states";
import { listSources } from "../../stream/role_levels";
import { messages } from "../../words/messages";
import { people } from "../../words/people";
import { roleWords } from "../../words/roles";

/** Makes a role that reads one source; the matrix gives it the rest. */
export function NewRole({ handle, onClose }: { handle: string; onClose: () => void }) {
  const client = useQueryClient();
  const { data: tools = [] } = useQuery(toolsQuery);
  const sources = listSources(tools);
  const [name, setName] = useState("");
  const [title, setTitle] = useState("");
  const [source, setSource] = useState("");
  const chosen = source || sources[0]?.name || "";
  const make = useMutation({
    mutationFn: () =>
      send("PUT", `/organisations/${handle}/roles/${encodeURIComponent(name.trim())}`, {
        levels: { [chosen]: "read" },
        title: title.trim(),
      }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["roles", handle] });
      onClose();
    },
  });
  return (
    <Dialog label={roleWords.newRole} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <h2>{roleWords.newRole}</h2>
        <Field
          id="role-name"
          label={roleWords.roleName}
          value={name}
          onChange={setName}
          hint={roleWords.roleNameHint}
        />
        <Field id="role-title" label={people.titleOptional} value={title} onChange={setTitle} />
        <div className="field">
          <label htmlFor="role-source">{roleWords.reads}</label>
          <select
            id="role-source"
            className="in"
            value={chosen}
            onChange={(event) => setSource(event.target.value)}
          >
            {sources.map((item) => (
              <option key={item.name}>{item.name}</option>
            ))}
          </select>
        </div>
        <Problem error={make.error} />
        <div className="acts">
          <button
            type="submit"
            className="btn primary"
            disabled={make.isPending || name.trim() === "" || chosen === ""}
          >
            {roleWords.makeRole}
          </button>
          <button type="button" className="btn quiet" onClick={onClose}>
            {messages.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
