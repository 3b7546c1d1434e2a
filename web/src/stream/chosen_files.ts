// Files and folders that somebody drops or chooses, with their paths.

import type { ChosenFile } from "./uploads";

const READABLE = new Set(
  "pdf docx doc pptx ppt xlsx xls odt odp ods rtf html htm xhtml md markdown txt text csv tsv json yaml yml xml log rst org eml epub png jpg jpeg gif webp tif tiff bmp".split(
    " ",
  ),
);
const MOST = 2_000;

/** The endings for the dialog that chooses files. */
export const ACCEPTED = [...READABLE].map((ending) => `.${ending}`).join(",");

/** Whether a text may come out of a file; hidden files of a folder are none. */
export function isReadable(name: string): boolean {
  const ending = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  return !name.startsWith(".") && READABLE.has(ending);
}

/** The files of an input; those of a folder keep their paths. */
export function listChosen(list: FileList | null): ChosenFile[] {
  return [...(list ?? [])]
    .slice(0, MOST)
    .map((file) => ({ file, path: file.webkitRelativePath || file.name }));
}

/** The files that were dropped, those in dropped folders included. */
export async function listDropped(data: DataTransfer): Promise<ChosenFile[]> {
  // All is read at once: after the event the list is empty.
  const items = [...data.items].filter((item) => item.kind === "file");
  const entries = items.map((item) => item.webkitGetAsEntry());
  const files = items.map((item) => item.getAsFile());
  const found: ChosenFile[] = [];
  for (const [index, entry] of entries.entries()) {
    const file = files[index];
    if (entry) await walk(entry, "", found);
    else if (file) found.push({ file, path: file.name });
  }
  return found;
}

async function walk(entry: FileSystemEntry, folder: string, found: ChosenFile[]): Promise<void> {
  if (found.length >= MOST) return;
  const path = folder + entry.name;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    );
    found.push({ file, path });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // A reader gives some entries at a time.
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (batch.length === 0) return;
    for (const inner of batch) await walk(inner, `${path}/`, found);
  }
}

export interface Sorted {
  readable: ChosenFile[];
  /** Names of files that are not sent, with the reason `empty` or `kind`. */
  refused: { name: string; why: "empty" | "kind" }[];
}

/** What can be sent of it; files that a system puts into folders are left out in silence. */
export function sortChosen(chosen: readonly ChosenFile[]): Sorted {
  const sorted: Sorted = { readable: [], refused: [] };
  for (const item of chosen) {
    const isHidden = item.path.split("/").some((part) => part.startsWith("."));
    if (isHidden) continue;
    if (!isReadable(item.file.name)) sorted.refused.push({ name: item.path, why: "kind" });
    else if (item.file.size === 0) sorted.refused.push({ name: item.path, why: "empty" });
    else sorted.readable.push(item);
  }
  return sorted;
}
