import { formatNumber } from "./format";

/** What the console says in forms made from a JSON Schema. */
export const forms = {
  takesNothing: "It takes no arguments.",
  add: "Add",
  removeItem: (name: string, place: number) => `Remove ${name} ${place}`,
  yes: "Yes",
  no: "No",
  optional: "optional",
  clear: "Clear",
  choose: "Choose",
  notSet: "Not set",
  kind: "Kind",
  value: "Value",
  alternative: (place: number) => `Alternative ${place}`,
  asJson: "Arguments as JSON",
  noJson: (reason: string) => `No JSON yet: ${reason}`,
  wholeNumber: "whole number",
  number: "number",
  above: (least: unknown) => `above ${least}`,
  atLeast: (least: unknown) => `at least ${least}`,
  below: (most: unknown) => `below ${most}`,
  atMost: (most: unknown) => `at most ${most}`,
  upTo: (length: unknown) => `up to ${formatNumber(Number(length))} characters`,
} as const;
