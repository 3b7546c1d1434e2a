// JSON Schema, as far as a form asks about it.

import type { Problem } from "../api/errors";
import { titleOf } from "../words/format";
import { forms } from "../words/forms";

export type JsonSchema = Record<string, unknown>;

/** The label of a property by its key and schema. */
export type LabelOf = (key: string, schema: JsonSchema) => string;

export interface FieldProps {
  root: JsonSchema;
  schema: JsonSchema;
  /** Its key. */
  name: string;
  /** What people read; a form of a tool shows the key. */
  label: string;
  labelOf: LabelOf;
  path: string;
  isRequired: boolean;
  value: unknown;
  onChange: (value: unknown) => void;
  problems: readonly Problem[];
}

/** The key itself, as callers of a tool send it. */
export const showKey: LabelOf = (key) => key;

/** The title that a definition gives; of one that was made from the key, the key in words. */
export const describeKey: LabelOf = (key, schema) => {
  const title = typeof schema.title === "string" ? schema.title : "";
  const letters = (text: string) => text.replaceAll(/[\s_-]/g, "").toLowerCase();
  if (title && letters(title) !== letters(key)) return title;
  const split = (_: string, end: string, start: string) => `${end} ${start.toLowerCase()}`;
  return titleOf(key.replaceAll(/([a-z])([A-Z])/g, split));
};

/** What is wrong with the value of a field. */
export function findProblems({ path, problems }: FieldProps): Problem[] {
  return problems.filter((problem) => {
    const at = problem.path
      .replace(/^(body\.)?(input|arguments)\.?/, "")
      .replaceAll(/\[(\d+)\]/g, ".$1");
    return path !== "" && at === path.replaceAll(/\[(\d+)\]/g, ".$1");
  });
}

/** What a field accepts, in words. */
export function constraintOf(schema: JsonSchema): string {
  const type = typeOf(schema);
  const words = [
    type === "integer"
      ? forms.wholeNumber
      : type === "number"
        ? forms.number
        : String(schema.format ?? ""),
  ];
  if (schema.exclusiveMinimum !== undefined) words.push(forms.above(schema.exclusiveMinimum));
  if (schema.minimum !== undefined) words.push(forms.atLeast(schema.minimum));
  if (schema.exclusiveMaximum !== undefined) words.push(forms.below(schema.exclusiveMaximum));
  if (schema.maximum !== undefined) words.push(forms.atMost(schema.maximum));
  if (schema.maxLength !== undefined) words.push(forms.upTo(schema.maxLength));
  return words.filter(Boolean).join(", ");
}

export function typeOf(schema: JsonSchema): string {
  const type = schema.type;
  if (Array.isArray(type)) {
    const real = type.filter((item) => item !== "null");
    return real.length === 1 ? String(real[0]) : "";
  }
  if (typeof type === "string") return type;
  return isRecord(schema.properties) ? "object" : "";
}

/** The alternatives of a schema without that of null; none for most schemas. */
export function alternatives(schema: JsonSchema): JsonSchema[] {
  const options = (schema.anyOf ?? schema.oneOf) as unknown;
  if (!Array.isArray(options) || isRecord(schema.properties)) return [];
  return options.filter(
    (option): option is JsonSchema => isRecord(option) && option.type !== "null",
  );
}

export function nameOf(schema: JsonSchema, index: number): string {
  return String(schema.title ?? schema.const ?? (typeOf(schema) || forms.alternative(index + 1)));
}

const DEEPEST = 20;

export function resolve(root: JsonSchema, schema: JsonSchema): JsonSchema {
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

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
