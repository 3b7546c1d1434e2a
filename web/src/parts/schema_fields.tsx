import { useId, useState } from "react";
import { forms } from "../words/forms";
import { constraintOf, type FieldProps, findProblems, typeOf } from "./schema";

export function TextField(props: FieldProps) {
  const id = useId();
  const isNumber = typeOf(props.schema) !== "string";
  const [typed, setTyped] = useState<string | null>(null);
  const shown = typed ?? (props.value === undefined ? "" : String(props.value));
  const change = (text: string) => {
    setTyped(isNumber ? text : null);
    if (text === "" && !(props.isRequired && !isNumber)) return props.onChange(undefined);
    const parsed = Number(text);
    props.onChange(isNumber && text.trim() !== "" && Number.isFinite(parsed) ? parsed : text);
  };
  const faults = findProblems(props);
  const common = {
    id,
    className: "in",
    value: shown,
    placeholder: props.schema.default === undefined ? undefined : String(props.schema.default),
    "aria-invalid": faults.length > 0 || undefined,
    "aria-describedby": `${id}-h`,
    "aria-required": props.isRequired || undefined,
    onChange: (event: { target: { value: string } }) => change(event.target.value),
  };
  const isLong =
    !isNumber &&
    (/sql|query|text|body|code|content|message/i.test(props.name) || shown.length > 60);
  return (
    <div className="field">
      <Label id={id} {...props} />
      {isLong ? (
        <textarea {...common} rows={Math.min(10, Math.max(2, shown.split("\n").length))} />
      ) : (
        <input {...common} inputMode={isNumber ? "decimal" : undefined} />
      )}
      <Hint id={`${id}-h`} {...props} />
    </div>
  );
}

const RADIOS = 4;

export function EnumField(props: FieldProps) {
  const id = useId();
  const options = props.schema.enum as unknown[];
  const chosen = options.findIndex(
    (option) => JSON.stringify(option) === JSON.stringify(props.value),
  );
  const names = Array.isArray(props.schema.enumNames) ? props.schema.enumNames : [];
  const words = options.map((option, index) =>
    option === true ? forms.yes : option === false ? forms.no : String(names[index] ?? option),
  );
  if (options.length <= RADIOS)
    return (
      <fieldset className="field" aria-describedby={`${id}-h`}>
        <legend>
          {props.label}
          {!props.isRequired && <span className="faint"> {forms.optional}</span>}
        </legend>
        <div className="radios">
          {words.map((word, index) => (
            <label key={word}>
              <input
                type="radio"
                name={id}
                checked={chosen === index}
                onChange={() => props.onChange(options[index])}
              />
              {word}
            </label>
          ))}
          {chosen >= 0 && !props.isRequired && (
            <button
              type="button"
              className="btn quiet sm"
              onClick={() => props.onChange(undefined)}
            >
              {forms.clear}
            </button>
          )}
        </div>
        <Hint id={`${id}-h`} {...props} />
      </fieldset>
    );
  return (
    <div className="field">
      <Label id={id} {...props} />
      <select
        id={id}
        className="in"
        value={chosen}
        aria-describedby={`${id}-h`}
        onChange={(event) => props.onChange(options[Number(event.target.value)])}
      >
        <option value={-1}>{props.isRequired ? forms.choose : forms.notSet}</option>
        {words.map((word, index) => (
          <option key={word} value={index}>
            {word}
          </option>
        ))}
      </select>
      <Hint id={`${id}-h`} {...props} />
    </div>
  );
}

export function JsonField(props: FieldProps) {
  const id = useId();
  const [typed, setTyped] = useState<string | null>(null);
  const [fault, setFault] = useState("");
  const shown = typed ?? (props.value === undefined ? "" : JSON.stringify(props.value, null, 2));
  return (
    <div className="field">
      <Label id={id} {...props} />
      <textarea
        id={id}
        className="in mono"
        rows={Math.min(16, Math.max(3, shown.split("\n").length))}
        value={shown}
        aria-invalid={fault !== "" || undefined}
        aria-describedby={`${id}-h`}
        onChange={(event) => {
          const text = event.target.value;
          setTyped(text);
          try {
            props.onChange(text.trim() === "" ? undefined : JSON.parse(text));
            setFault("");
          } catch (error) {
            setFault(forms.noJson((error as Error).message));
          }
        }}
      />
      {fault && <span className="err">{fault}</span>}
      <Hint id={`${id}-h`} {...props} />
    </div>
  );
}

function Label({ id, label, schema, isRequired }: FieldProps & { id: string }) {
  const quiet = [constraintOf(schema), isRequired ? "" : forms.optional].filter(Boolean).join(", ");
  return (
    <label htmlFor={id}>
      {label || forms.asJson}
      {quiet && <code>{quiet}</code>}
    </label>
  );
}

export function Hint(props: FieldProps & { id?: string }) {
  const faults = findProblems(props);
  return (
    <span id={props.id}>
      {faults.map((fault) => (
        <span className="err" key={fault.message}>
          {fault.message}
        </span>
      ))}
      {typeof props.schema.description === "string" && (
        <span className="hint">{props.schema.description}</span>
      )}
    </span>
  );
}
