import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { send } from "../../api/client";
import type { Credential } from "../../api/credentials";
import { Dialog } from "../../parts/dialog";
import { Field } from "../../parts/field";
import { Problem } from "../../parts/states";
import { secrets } from "../../words/credentials";
import { messages } from "../../words/messages";

interface ReplaceDialogProps {
  credential: Credential;
  onDone: () => Promise<unknown>;
  onClose: () => void;
}

/** Asks for the new value of a credential. */
export function ReplaceDialog({ credential, onDone, onClose }: ReplaceDialogProps) {
  const [value, setValue] = useState("");
  const replace = useMutation({
    mutationFn: () => send("PATCH", `/credentials/${credential.id}`, { value }),
    onSuccess: onDone,
  });
  const title = secrets.replaceTitle(credential.name);
  return (
    <Dialog label={title} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          replace.mutate();
        }}
      >
        <h2>{title}</h2>
        <p className="dim">{secrets.replaceWhat}</p>
        <Field
          id="new-value"
          label={secrets.value}
          type="password"
          value={value}
          onChange={setValue}
          hint={secrets.valueHint}
        />
        <Problem error={replace.error} />
        <div className="acts">
          <button
            type="submit"
            className="btn primary"
            disabled={replace.isPending || value === ""}
          >
            {secrets.replace}
          </button>
          <button type="button" className="btn quiet" onClick={onClose}>
            {messages.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
