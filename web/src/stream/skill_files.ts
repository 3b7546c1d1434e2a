// The files of a skill: texts by their paths, as a person chooses, drops or writes them.

import type { ChosenFile } from "./uploads";
import { isZip, NoZip, readZip } from "./zip";

export type SkillFiles = Record<string, string>;

export const SKILL_FILE = "SKILL.md";
const MOST_BYTES = 256_000;

/** Why a choice of files is no skill. */
export class NoSkill extends Error {
  constructor(
    readonly why: "no skill" | "not text" | NoZip["why"],
    readonly path = "",
  ) {
    super(why);
  }
}

/**
 * The texts of what was chosen: the folder of the uppermost `SKILL.md`, without hidden files. An
 * archive counts as the files in it.
 */
export async function readSkillFiles(given: readonly ChosenFile[]): Promise<SkillFiles> {
  const chosen = (await Promise.all(given.map(openArchive))).flat();
  const top = findTop(chosen.map((item) => item.path));
  const found: SkillFiles = {};
  let size = 0;
  for (const { file, path } of chosen) {
    const inner = path.slice(top.length);
    if (!path.startsWith(top) || inner.split("/").some((part) => part.startsWith("."))) continue;
    size += file.size;
    if (size > MOST_BYTES) throw new NoSkill("too large");
    try {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
      found[inner] = text;
    } catch {
      throw new NoSkill("not text", inner);
    }
  }
  return found;
}

/** The name in the front matter; empty where there is none. */
export function readSkillName(text: string): string {
  const [first = "", ...lines] = text.replace(/^\ufeff/, "").split(/\r?\n/);
  if (!first.startsWith("---")) return "";
  for (const line of lines) {
    if (line.startsWith("---")) break;
    const found = /^name\s*:\s*(.*)$/.exec(line);
    if (found) return (found[1] ?? "").trim().replace(/^["']|["']$/g, "");
  }
  return "";
}

async function openArchive(item: ChosenFile): Promise<ChosenFile[]> {
  if (!isZip(item.file)) return [item];
  try {
    return await readZip(item.file, MOST_BYTES);
  } catch (error) {
    if (error instanceof NoZip) throw new NoSkill(error.why, item.path);
    throw error;
  }
}

function findTop(paths: readonly string[]): string {
  const tops = paths
    .filter((path) => path === SKILL_FILE || path.endsWith(`/${SKILL_FILE}`))
    .map((path) => path.slice(0, -SKILL_FILE.length))
    .sort((one, other) => one.length - other.length);
  if (tops[0] === undefined) throw new NoSkill("no skill");
  return tops[0];
}
