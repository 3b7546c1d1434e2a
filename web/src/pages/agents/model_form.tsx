import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { send } from "../../api/client";
import { changeResource, type Resource } from "../../api/resources";
import { Field } from "../../parts/field";
import { useReadAgain } from "../../parts/read_again";
import { Problem } from "../../parts/states";
import { messages } from "../../words/messages";
import { modelWords } from "../../words/models";
import { people } from "../../words/people";

const PROVIDERS = ["openai", "anthropic"] as const;

interface ModelFormProps {
  /** The model to change; a new one without it. */
  resource?: Resource;
  onDone: (saved: Resource) => void;
  onCancel?: () => void;
}

/** A language model of a person: where it is, and what it costs; never its key. */
export function ModelForm({ resource, onDone, onCancel }: ModelFormProps) {
  const read = useReadAgain();
  const known = resource?.config ?? {};
  const cost = (known.price ?? {}) as { input?: number; output?: number };
  const [name, setName] = useState("");
  const [title, setTitle] = useState(resource?.title ?? "");
  const [model, setModel] = useState(String(known.model ?? ""));
  const [provider, setProvider] = useState(String(known.provider ?? "openai"));
  const [address, setAddress] = useState(String(known.base_url ?? ""));
  const [input, setInput] = useState(String(cost.input ?? ""));
  const [output, setOutput] = useState(String(cost.output ?? ""));
  const save = useMutation({
    mutationFn: () => {
      const { price: _price, base_url: _url, ...others } = known;
      const hasPrice = input.trim() !== "" || output.trim() !== "";
      const config = {
        ...others,
        provider,
        model: model.trim(),
        ...(address.trim() ? { base_url: address.trim() } : {}),
        ...(hasPrice ? { price: { input: Number(input), output: Number(output) } } : {}),
      };
      const texts = { title: title.trim(), config };
      return resource
        ? changeResource(resource.id, texts)
        : send<Resource>("POST", "/resources", { kind: "model", name: name.trim(), ...texts });
    },
    onSuccess: async (saved) => {
      await read();
      onDone(saved);
    },
  });
  const heading = resource ? people.save : modelWords.add;
  return (
    <form
      className="card padded"
      aria-label={modelWords.add}
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      {!resource && <h2>{modelWords.add}</h2>}
      {!resource && (
        <Field id="model-name" label={modelWords.nameOf} value={name} onChange={setName} />
      )}
      <Field id="model-title" label={people.titleOptional} value={title} onChange={setTitle} />
      <div className="field">
        <label htmlFor="model-provider">{modelWords.provider}</label>
        <select
          id="model-provider"
          className="in"
          value={provider}
          onChange={(event) => setProvider(event.target.value)}
        >
          {PROVIDERS.map((item) => (
            <option key={item} value={item}>
              {modelWords.providers[item]}
            </option>
          ))}
        </select>
      </div>
      <Field id="model-model" label={modelWords.model} value={model} onChange={setModel} />
      <Field
        id="model-address"
        label={modelWords.address}
        value={address}
        onChange={setAddress}
        hint={modelWords.addressHint}
      />
      <Field id="model-input" label={modelWords.inputPrice} value={input} onChange={setInput} />
      <Field id="model-output" label={modelWords.outputPrice} value={output} onChange={setOutput} />
      <p className="hint">{modelWords.keyWhat}</p>
      <Problem error={save.error} />
      <div className="acts">
        <button
          type="submit"
          className="btn primary"
          disabled={save.isPending || model.trim() === "" || (!resource && name.trim() === "")}
        >
          {heading}
        </button>
        {onCancel && (
          <button type="button" className="btn quiet" onClick={onCancel}>
            {messages.cancel}
          </button>
        )}
      </div>
    </form>
  );
}
