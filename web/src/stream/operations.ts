// Which operations of an API become tools: those that are chosen, all but some, or all.

export type Mode = "all" | "choose" | "except";
type Config = Record<string, unknown>;

/** The name of a tool without its source, as `include` and `exclude` take it. */
export const actionOf = (tool: string): string => tool.split("__").slice(1).join("__") || tool;

/** The configuration with a choice of operations; none chosen is none. */
export function chooseOperations(config: Config, mode: Mode, names: readonly string[]): Config {
  const { include: _include, exclude: _exclude, ...others } = config;
  if (mode === "all" || (mode === "except" && names.length === 0)) return others;
  const rule = [{ operations: [...names].sort() }];
  return mode === "choose" ? { ...others, include: rule } : { ...others, exclude: rule };
}

/** The operations that a choice leaves. */
export function listChosen(
  all: readonly string[],
  mode: Mode,
  names: ReadonlySet<string>,
): string[] {
  if (mode === "all") return [...all];
  return all.filter((name) => names.has(name) === (mode === "choose"));
}
