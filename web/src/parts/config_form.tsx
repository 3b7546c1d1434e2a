import type { Problem } from "../api/errors";
import { sharing } from "../words/resources";
import { describeKey } from "./schema";
import { SchemaForm } from "./schema_form";

type JsonSchema = Record<string, unknown>;

interface ConfigFormProps {
  /** Of the configuration of a kind of source. */
  schema: JsonSchema;
  value: Record<string, unknown>;
  onChange: (value: Record<string, unknown>) => void;
  problems: readonly Problem[];
}

/** The fields of a kind of source: what each needs first, the rest folded. */
export function ConfigForm({ schema, value, onChange, problems }: ConfigFormProps) {
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
  const required = new Set(Array.isArray(schema.required) ? schema.required.map(String) : []);
  const isFirst = (name: string) => required.has(name) || properties[name]?.["x-first"] === true;
  const change = (part: unknown, own: (name: string) => boolean) => {
    const others = Object.entries(value).filter(([name]) => !own(name));
    onChange({ ...Object.fromEntries(others), ...(part as Record<string, unknown>) });
  };
  const first = select(schema, isFirst, (name, own) => simplify(own, value[name]));
  const rest = select(schema, (name) => !isFirst(name));
  return (
    <>
      <SchemaForm
        schema={first}
        labelOf={describeKey}
        value={pick(value, isFirst)}
        onChange={(part) => change(part, isFirst)}
        problems={problems}
      />
      <details className="moreset">
        <summary>
          {sharing.moreSettings} <span className="faint">{sharing.asTheKindSets}</span>
        </summary>
        <SchemaForm
          schema={rest}
          labelOf={describeKey}
          value={pick(value, (name) => !isFirst(name))}
          onChange={(part) => change(part, (name) => !isFirst(name))}
          problems={problems}
        />
      </details>
    </>
  );
}

/** The first of several alternatives, unless the value is of another one. */
function simplify(schema: JsonSchema, value: unknown): JsonSchema {
  const { anyOf, ...rest } = schema;
  const isPlain = value === undefined || value === null || typeof value === "string";
  const [first] = Array.isArray(anyOf) ? (anyOf as JsonSchema[]) : [];
  return first?.type === "string" && isPlain ? { ...rest, ...first, default: undefined } : schema;
}

/** The same schema with some of its properties alone. */
function select(
  schema: JsonSchema,
  isWanted: (name: string) => boolean,
  change = (_: string, own: JsonSchema) => own,
): JsonSchema {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  return {
    ...schema,
    title: undefined,
    description: undefined,
    properties: Object.fromEntries(
      properties.filter(([name]) => isWanted(name)).map(([name, own]) => [name, change(name, own)]),
    ),
    required: required.filter(isWanted),
  };
}

function pick(value: Record<string, unknown>, isWanted: (name: string) => boolean) {
  return Object.fromEntries(Object.entries(value).filter(([name]) => isWanted(name)));
}
