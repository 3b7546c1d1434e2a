import { Plus, X } from "lucide-react";
import { useId, useState } from "react";
import type { Problem } from "../api/errors";

/** A JSON Schema, as far as a form asks about it. */
type JsonSchema = Record<string, unknown>;

interface SchemaFormProps {
  schema: JsonSchema;
  /** The arguments so far; a field that nobody touched is not in it. */
  value: unknown;
  onChange: (value: unknown) => void;
  problems?: readonly Problem[];
}

/** A form for the arguments of a tool; what it cannot draw becomes a field of JSON. */
export function SchemaForm({ schema, value, onChange, problems = [] }: SchemaFormProps) {
  return (
    <Field
      root={schema}
      schema={schema}
      name=""
      path=""
      isRequired
      value={value}
      onChange={onChange}
      problems={problems}
    />
  );
}

interface FieldProps {
  root: JsonSchema;
  schema: JsonSchema;
  name: string;
  path: string;
  isRequired: boolean;
  value: unknown;
  onChange: (value: unknown) => void;
  problems: readonly Problem[];
}

function Field(props: FieldProps) {
  const schema = resolve(props.root, props.schema);
  const own = { ...props, schema };
  const options = alternatives(schema);
  if (options.length > 1) return <AlternativeField {...own} options={options} />;
  const choice = options[0] ? resolve(props.root, options[0]) : schema;
  const drawn = { ...own, schema: { ...schema, ...choice } };
  if (Array.isArray(drawn.schema.enum)) return <EnumField {...drawn} />;
  switch (typeOf(drawn.schema)) {
    case "object":
      return isRecord(drawn.schema.properties) ? (
        <ObjectField {...drawn} />
      ) : (
        <JsonField {...drawn} />
      );
    case "array":
      return isRecord(drawn.schema.items) ? <ArrayField {...drawn} /> : <JsonField {...drawn} />;
    case "string":
    case "number":
    case "integer":
      return <TextField {...drawn} />;
    case "boolean":
      return <EnumField {...drawn} schema={{ ...drawn.schema, enum: [true, false] }} />;
    default:
      return <JsonField {...drawn} />;
  }
}

function ObjectField(props: FieldProps) {
  const value = isRecord(props.value) ? props.value : {};
  const required = Array.isArray(props.schema.required) ? props.schema.required : [];
  const properties = Object.entries(props.schema.properties as Record<string, JsonSchema>);
  const fields = properties.map(([key, schema]) => (
    <Field
      key={key}
      root={props.root}
      schema={schema}
      name={key}
      path={props.path ? `${props.path}.${key}` : key}
      isRequired={required.includes(key)}
      value={value[key]}
      problems={props.problems}
      onChange={(item) => {
        const { [key]: _, ...rest } = value;
        props.onChange(item === undefined ? rest : { ...rest, [key]: item });
      }}
    />
  ));
  if (properties.length === 0) return <p className="faint">It takes no arguments.</p>;
  if (!props.name) return <>{fields}</>;
  return (
    <fieldset>
      <legend>{props.name}</legend>
      <div className="nest">{fields}</div>
      <Hint {...props} />
    </fieldset>
  );
}

function ArrayField(props: FieldProps) {
  const items = Array.isArray(props.value) ? props.value : [];
  const change = (next: unknown[]) =>
    props.onChange(next.length === 0 && !props.isRequired ? undefined : next);
  return (
    <fieldset>
      <legend>{props.name}</legend>
      <div className="nest">
        {items.map((item, index) => (
          <div className="array-item" key={index}>
            <Field
              root={props.root}
              schema={props.schema.items as JsonSchema}
              name={`${index + 1}`}
              path={`${props.path}[${index}]`}
              isRequired
              value={item}
              problems={props.problems}
              onChange={(changed) => change(items.with(index, changed ?? ""))}
            />
            <button
              type="button"
              className="icon-btn"
              aria-label={`Remove ${props.name} ${index + 1}`}
              onClick={() => change(items.toSpliced(index, 1))}
            >
              <X className="i s" aria-hidden="true" />
            </button>
          </div>
        ))}
        <button type="button" className="btn sm" onClick={() => change([...items, undefined])}>
          <Plus className="i s" aria-hidden="true" /> Add
        </button>
      </div>
      <Hint {...props} />
    </fieldset>
  );
}

function TextField(props: FieldProps) {
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

function EnumField(props: FieldProps) {
  const id = useId();
  const options = props.schema.enum as unknown[];
  const chosen = options.findIndex(
    (option) => JSON.stringify(option) === JSON.stringify(props.value),
  );
  const words = options.map((option) =>
    option === true ? "Yes" : option === false ? "No" : String(option),
  );
  if (options.length <= RADIOS)
    return (
      <fieldset className="field" aria-describedby={`${id}-h`}>
        <legend>
          {props.name}
          {!props.isRequired && <span className="faint"> optional</span>}
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
              Clear
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
        <option value={-1}>{props.isRequired ? "Choose" : "Not set"}</option>
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

function AlternativeField(props: FieldProps & { options: JsonSchema[] }) {
  const [chosen, setChosen] = useState(0);
  const id = useId();
  const option = resolve(props.root, props.options[chosen] ?? {});
  return (
    <fieldset>
      <legend>{props.name || "Arguments"}</legend>
      <div className="nest">
        <div className="field">
          <label htmlFor={id}>Kind</label>
          <select
            id={id}
            className="in"
            value={chosen}
            onChange={(event) => {
              setChosen(Number(event.target.value));
              props.onChange(undefined);
            }}
          >
            {props.options.map((item, index) => (
              <option key={index} value={index}>
                {nameOf(resolve(props.root, item), index)}
              </option>
            ))}
          </select>
        </div>
        <Field {...props} schema={option} name={props.name ? "value" : ""} />
      </div>
    </fieldset>
  );
}

function JsonField(props: FieldProps) {
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
            setFault(`No JSON yet: ${(error as Error).message}`);
          }
        }}
      />
      {fault && <span className="err">{fault}</span>}
      <Hint id={`${id}-h`} {...props} />
    </div>
  );
}

function Label({ id, name, schema, isRequired }: FieldProps & { id: string }) {
  const quiet = [constraintOf(schema), isRequired ? "" : "optional"].filter(Boolean).join(", ");
  return (
    <label htmlFor={id}>
      {name || "Arguments as JSON"}
      {quiet && <code>{quiet}</code>}
    </label>
  );
}

function Hint(props: FieldProps & { id?: string }) {
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

function findProblems({ path, problems }: FieldProps): Problem[] {
  return problems.filter((problem) => {
    const at = problem.path
      .replace(/^(body\.)?(input|arguments)\.?/, "")
      .replaceAll(/\[(\d+)\]/g, ".$1");
    return path !== "" && at === path.replaceAll(/\[(\d+)\]/g, ".$1");
  });
}

function constraintOf(schema: JsonSchema): string {
  const type = typeOf(schema);
  const words = [
    type === "integer"
      ? "whole number"
      : type === "number"
        ? "number"
        : String(schema.format ?? ""),
  ];
  if (schema.exclusiveMinimum !== undefined) words.push(`above ${schema.exclusiveMinimum}`);
  if (schema.minimum !== undefined) words.push(`at least ${schema.minimum}`);
  if (schema.exclusiveMaximum !== undefined) words.push(`below ${schema.exclusiveMaximum}`);
  if (schema.maximum !== undefined) words.push(`at most ${schema.maximum}`);
  if (schema.maxLength !== undefined) words.push(`up to ${schema.maxLength} characters`);
  return words.filter(Boolean).join(", ");
}

function typeOf(schema: JsonSchema): string {
  const type = schema.type;
  if (Array.isArray(type)) {
    const real = type.filter((item) => item !== "null");
    return real.length === 1 ? String(real[0]) : "";
  }
  if (typeof type === "string") return type;
  return isRecord(schema.properties) ? "object" : "";
}

/** The alternatives of a schema without that of null; none for most schemas. */
function alternatives(schema: JsonSchema): JsonSchema[] {
  const options = (schema.anyOf ?? schema.oneOf) as unknown;
  if (!Array.isArray(options) || isRecord(schema.properties)) return [];
  return options.filter(
    (option): option is JsonSchema => isRecord(option) && option.type !== "null",
  );
}

function nameOf(schema: JsonSchema, index: number): string {
  return String(schema.title ?? schema.const ?? (typeOf(schema) || `Alternative ${index + 1}`));
}

const DEEPEST = 20;

function resolve(root: JsonSchema, schema: JsonSchema): JsonSchema {
  let found = schema;
  for (let depth = 0; depth < DEEPEST && typeof found.$ref === "string"; depth++) {
    const steps = found.$ref.replace(/^#\/?/, "").split("/").filter(Boolean);
    let target: unknown = root;
    for (const step of steps)
      target = isRecord(target)
        ? target[step.replaceAll("~1", "/").replaceAll("~0", "~")]
        : undefined;
    if (!isRecord(target)) return {};
    const { $ref: _, ...beside } = found;
    found = { ...target, ...beside };
  }
  return found;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
