import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { send } from "../../api/client";
import { changeResource, type Resource } from "../../api/resources";
import { Field } from "../../parts/field";
import { useReadAgain } from "../../parts/read_again";
import { Problem } from "../../parts/states";
import { messages } from "../../words/messages";
import { people } from "../../words/people";
import { sharing } from "../../words/resources";

interface AgentFormProps {
  /** The agent to change; a new one without it. */
  resource?: Resource;
  onDone: () => void;
}

/** An agent of a person: what it is for, its instructions, and the tools it is narrowed to. */
export function AgentForm({ resource, onDone }: AgentFormProps) {
  const read = useReadAgain();
  const known = resource?.config ?? {};
  const [name, setName] = useState("");
  const [title, setTitle] = useState(resource?.title ?? "");
  const [description, setDescription] = useState(resource?.description ?? "");
  const [instructions, setInstructions] = useState(String(known.instructions ?? ""));
  const [tools, setTools] = useState(Array.isArray(known.tools) ? known.tools.join("\n") : "");
  const save = useMutation({
    mutationFn: () => {
      const wanted = tools.split(/\s+/).filter(Boolean);
      const { tools: _tools, instructions: _instructions, ...others } = known;
      const config = {
        ...others,
        ...(instructions.trim() ? { instructions } : {}),
        ...(wanted.length > 0 ? { tools: wanted } : {}),
      };
      const texts = { title: title.trim(), description: description.trim(), config };
      return resource
        ? changeResource(resource.id, texts)
        : send<Resource>("POST", "/resources", { kind: "agent", name: name.trim(), ...texts });
    },
    onSuccess: async () => {
      await read();
      onDone();
    },
  });
  return (
    <form
      className="card padded"
      aria-label={resource ? sharing.settings : sharing.newAgent}
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <h2>{resource ? sharing.settings : sharing.newAgent}</h2>
      {!resource && (
        <Field id="agent-name" label={sharing.agentName} value={name} onChange={setName} />
      )}
      <Field id="agent-title" label={people.titleOptional} value={title} onChange={setTitle} />
      <Field
        id="agent-description"
        label={sharing.whatFor}
        value={description}
        onChange={setDescription}
      />
      <Text
        id="agent-instructions"
        label={sharing.instructions}
        hint={sharing.instructionsHint}
        value={instructions}
        onChange={setInstructions}
      />
      <Text
        id="agent-tools"
        label={messages.tools}
        hint={sharing.toolsHint}
        value={tools}
        onChange={setTools}
        isMono
      />
      <Problem error={save.error} />
      <div className="acts">
        <button
          type="submit"
          className="btn primary"
          disabled={save.isPending || (!resource && name.trim() === "")}
        >
          {resource ? people.save : sharing.makeAgent}
        </button>
        {!resource && (
          <button type="button" className="btn quiet" onClick={onDone}>
            {messages.cancel}
          </button>
        )}
      </div>
    </form>
  );
}

interface TextProps {
  id: string;
  label: string;
  hint: string;
  value: string;
  onChange: (value: string) => void;
  isMono?: boolean;
}

function Text({ id, label, hint, value, onChange, isMono = false }: TextProps) {
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className={isMono ? "in mono" : "in"}
        rows={isMono ? 3 : 6}
        aria-describedby={`${id}-hint`}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      <span className="hint" id={`${id}-hint`}>
        {hint}
      </span>
    </div>
  );
}
