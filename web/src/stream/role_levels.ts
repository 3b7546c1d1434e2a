// Levels of roles by source: what is stored, what somebody changes, and what can be given.

export type Level = "read" | "write" | "admin";
export const LEVELS: readonly Level[] = ["read", "write", "admin"];

export interface SourceRow {
  name: string;
  tools: number;
  /** The strongest effect of its tools: a level above it would give nothing. */
  strongest: Level;
}

interface ToolLike {
  name: string;
  source: string;
  effect: string;
}

/** The sources of the tools that somebody sees, by name. */
export function listSources(tools: readonly ToolLike[]): SourceRow[] {
  const rows = new Map<string, SourceRow>();
  for (const { source, effect } of tools) {
    if (!source) continue;
    const row = rows.get(source) ?? { name: source, tools: 0, strongest: "read" as Level };
    row.tools += 1;
    const level = LEVELS.find((item) => item === effect) ?? "write";
    if (LEVELS.indexOf(level) > LEVELS.indexOf(row.strongest)) row.strongest = level;
    rows.set(source, row);
  }
  return [...rows.values()].sort((a, b) => a.name.localeCompare(b.name));
}

/** The levels that can be given for a source; one that is stored stays among them. */
export function listLevels(strongest: Level, stored: string): Level[] {
  const most = LEVELS.indexOf(strongest);
  return LEVELS.filter((level, index) => index <= most || level === stored);
}

export type Levels = Readonly<Record<string, Level>>;
export type Draft = Readonly<Record<string, Levels>>;

export interface Change {
  role: string;
  source: string;
  before: Level | "";
  after: Level | "";
}

/** What a draft changes of the stored levels, by role. */
export function listChanges(stored: Draft, draft: Draft): Change[] {
  return Object.entries(draft).flatMap(([role, levels]) => {
    const known = stored[role] ?? {};
    return [...new Set([...Object.keys(known), ...Object.keys(levels)])].flatMap((source) => {
      const before = known[source] ?? "";
      const after = levels[source] ?? "";
      return before === after ? [] : [{ role, source, before, after }];
    });
  });
}

/** The levels of a role with another one for a source; without it where nothing is given. */
export function setLevel(levels: Levels, source: string, level: Level | ""): Levels {
  const { [source]: _, ...others } = levels;
  return level ? { ...others, [source]: level } : others;
}
