import { Plus, X } from "lucide-react";
import { useId, useState } from "react";
import type { Problem } from "../api/errors";
import { forms } from "../words/forms";
import { messages } from "../words/messages";
import {
  alternatives,
  type FieldProps,
  isRecord,
  type JsonSchema,
  type LabelOf,
  nameOf,
  resolve,
  showKey,
  typeOf,
} from "./schema";
import { EnumField, Hint, JsonField, TextField } from "./schema_fields";

interface SchemaFormProps {
  schema: JsonSchema;
  /** The arguments so far; a field that nobody touched is not in it. */
  value: unknown;
  onChange: (value: unknown) => void;
  problems?: readonly Problem[];
  /** What a field is called; its key by default. */
  labelOf?: LabelOf;
}

/** A form for the arguments of a tool; what it cannot draw becomes a field of JSON. */
export function SchemaForm(props: SchemaFormProps) {
  const { schema, value, onChange, problems = [], labelOf = showKey } = props;
  return (
    <Field
      root={schema}
      schema={schema}
      name=""
      label=""
      labelOf={labelOf}
      path=""
      isRequired
      value={value}
      onChange={onChange}
      problems={problems}
    />
  );
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
      label={props.labelOf(key, schema)}
      labelOf={props.labelOf}
      path={props.path ? `${props.path}.${key}` : key}
      isRequired={required.includes(key)}
      value={Object.hasOwn(value, key) ? value[key] : undefined}
      problems={props.problems}
      onChange={(item) => {
        const { [key]: _, ...rest } = value;
        props.onChange(item === undefined ? rest : { ...rest, [key]: item });
      }}
    />
  ));
  if (properties.length === 0) return <p className="faint">{forms.takesNothing}</p>;
  if (!props.name) return <>{fields}</>;
  return (
    <fieldset>
      <legend>{props.label}</legend>
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
      <legend>{props.label}</legend>
      <div className="nest">
        {items.map((item, index) => (
          <div className="array-item" key={index}>
            <Field
              root={props.root}
              schema={props.schema.items as JsonSchema}
              name={`${index + 1}`}
              label={`${index + 1}`}
              labelOf={props.labelOf}
              path={`${props.path}[${index}]`}
              isRequired
              value={item}
              problems={props.problems}
              onChange={(changed) => change(items.with(index, changed ?? ""))}
            />
            <button
              type="button"
              className="icon-btn"
              aria-label={forms.removeItem(props.label, index + 1)}
              onClick={() => change(items.toSpliced(index, 1))}
            >
              <X className="i s" aria-hidden="true" />
            </button>
          </div>
        ))}
        <button type="button" className="btn sm" onClick={() => change([...items, undefined])}>
          <Plus className="i s" aria-hidden="true" /> {forms.add}
        </button>
      </div>
      <Hint {...props} />
    </fieldset>
  );
}

function AlternativeField(props: FieldProps & { options: JsonSchema[] }) {
  const [chosen, setChosen] = useState(0);
  const id = useId();
  const option = resolve(props.root, props.options[chosen] ?? {});
  return (
    <fieldset>
      <legend>{props.label || messages.arguments}</legend>
      <div className="nest">
        <div className="field">
          <label htmlFor={id}>{forms.kind}</label>
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
                {props.labelOf(nameOf(resolve(props.root, item), index), {})}
              </option>
            ))}
          </select>
        </div>
        <Field
          {...props}
          schema={option}
          name={props.name ? "value" : ""}
          label={props.name ? forms.value : ""}
        />
      </div>
    </fieldset>
  );
}
