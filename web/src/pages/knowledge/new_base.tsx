import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { addBase } from "../../api/knowledge";
import { Dialog } from "../../parts/dialog";
import { Field } from "../../parts/field";
import { Problem } from "../../parts/states";
import { knowledge } from "../../words/knowledge";
import { messages } from "../../words/messages";

/** Makes a base: a name is enough. */
export function NewBase({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <>
      <Link to="." search={(before) => ({ ...before, new: "base" })} className="btn">
        <Plus className="i s" aria-hidden="true" /> {knowledge.newBase}
      </Link>
      {isOpen && <BaseDialog onClose={onClose} />}
    </>
  );
}

function BaseDialog({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [title, setTitle] = useState("");
  const [description, setDescription] = useState("");
  const make = useMutation({
    mutationFn: () =>
      addBase({ name: name.trim(), title: title.trim(), description: description.trim() }),
    onSuccess: async (base) => {
      await client.invalidateQueries({ queryKey: ["bases"] });
      await navigate({ to: "/knowledge/$base", params: { base: base.id } });
    },
  });
  return (
    <Dialog label={knowledge.newBase} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <h2>{knowledge.newBase}</h2>
        <Field
          id="base-name"
          label={knowledge.baseName}
          value={name}
          onChange={setName}
          hint={knowledge.baseNameHint}
        />
        <Field id="base-title" label={knowledge.titleField} value={title} onChange={setTitle} />
        <Field
          id="base-description"
          label={knowledge.whatFor}
          value={description}
          onChange={setDescription}
        />
        <Problem error={make.error} />
        <div className="acts">
          <button
            type="submit"
            className="btn primary"
            disabled={make.isPending || name.trim() === ""}
          >
            {knowledge.makeBase}
          </button>
          <button type="button" className="btn quiet" onClick={onClose}>
            {messages.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
