// The files that this tab sends to bases, and those that a reload has interrupted.

import { useSyncExternalStore } from "react";
import { send } from "../api/client";
import { addDocuments, type Check, checkDocument, type Doc, hasDocument } from "../api/knowledge";
import { newKey } from "../api/new_key";
import { sendFile, SMALL } from "./upload_parts";

export interface Upload {
  id: string;
  base: string;
  name: string;
  /** With its folders. */
  path: string;
  size: number;
  sent: number;
  /** `changed` waits for a decision; `lost`: the page was loaded anew, and the file is forgotten. */
  state: "waiting" | "sending" | "checking" | "changed" | "adding" | "done" | "failed" | "lost";
  error: Error | null;
  /** The id of the upload on the server; empty before it began. */
  upload: string;
  document: Doc | null;
  isKnown: boolean;
  /** What it would change of the document whose place it takes. */
  check: Check | null;
}

const AT_ONCE = 2;
const STORED = "pegboard-uploads";
const MOST_STORED = 50;

const BUSY = ["sending", "checking", "adding"];

const files = new Map<string, File>();
const stops = new Map<string, AbortController>();
const listeners = new Set<() => void>();
let uploads: readonly Upload[] = readStored();

/** The uploads of this tab. */
export function useUploads(): readonly Upload[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => uploads,
  );
}

export interface ChosenFile {
  file: File;
  path: string;
}

/** Send files to a base, two at a time. */
export function startUploads(base: string, chosen: readonly ChosenFile[]): void {
  const made = chosen.map(({ file, path }) => {
    const id = newKey();
    files.set(id, file);
    return {
      ...{ id, base, path, name: file.name, size: file.size, sent: 0, upload: "" },
      ...{ state: "waiting" as const, error: null, document: null, isKnown: false, check: null },
    };
  });
  set([...uploads, ...made]);
  startNext();
}

/** Go on with one that a reload has interrupted; false when it is another file. */
export function resumeUpload(id: string, file: File): boolean {
  const upload = uploads.find((item) => item.id === id);
  if (!upload || file.name !== upload.name || file.size !== upload.size) return false;
  files.set(id, file);
  change(id, { state: "waiting", error: null });
  startNext();
  return true;
}

/** Try one again that has failed. */
export function retryUpload(id: string): void {
  change(id, { state: "waiting", error: null });
  startNext();
}

/** Take in what waits for a decision, in place of the document before. */
export function confirmUpload(id: string): void {
  const upload = uploads.find((item) => item.id === id);
  if (upload?.state !== "changed") return;
  change(id, { state: "waiting" });
  startNext();
}

/** Keep the document before: the file is deleted on the server, too. */
export function rejectUpload(id: string): void {
  const upload = uploads.find((item) => item.id === id);
  removeUpload(id);
  // The server deletes it with the others that nobody has used, if it cannot be reached now.
  if (upload?.upload) send("DELETE", `/files/${upload.upload}`).catch(() => null);
}

/** Stop one, or take it from the list. */
export function removeUpload(id: string): void {
  stops.get(id)?.abort();
  stops.delete(id);
  files.delete(id);
  set(uploads.filter((item) => item.id !== id));
  startNext();
}

function startNext(): void {
  const busy = uploads.filter((item) => BUSY.includes(item.state)).length;
  const next = uploads.filter((item) => item.state === "waiting" && files.has(item.id));
  for (const upload of next.slice(0, Math.max(0, AT_ONCE - busy))) void run(upload);
}

async function run({ id, base, path, upload, check }: Upload): Promise<void> {
  const file = files.get(id);
  if (!file) return;
  const stop = new AbortController();
  stops.set(id, stop);
  change(id, { state: "sending" });
  try {
    const body = await sendFile({
      file,
      upload,
      signal: stop.signal,
      onStart: (begun) => change(id, { upload: begun }),
      onProgress: (sent) => change(id, { sent }),
    });
    change(id, { state: "checking", sent: file.size });
    const found = check ? null : await findChanges(base, { ...body, path });
    if (stop.signal.aborted) return;
    if (found?.outcome === "changed") {
      change(id, { state: "changed", check: found });
      return;
    }
    change(id, { state: "adding" });
    const { documents } = await addDocuments(base, { ...body, path });
    const [added] = documents;
    const isKnown = added?.outcome === "already_here";
    files.delete(id);
    // The document is in the list from now on; what was there already is said once.
    if (isKnown) change(id, { state: "done", document: added.document, isKnown });
    else set(uploads.filter((item) => item.id !== id));
    window.dispatchEvent(new CustomEvent("documents-added", { detail: base }));
  } catch (error) {
    if (!stop.signal.aborted) change(id, { state: "failed", error: error as Error });
  } finally {
    stops.delete(id);
    startNext();
  }
}

/** What a file would change of the document whose place it takes; null where there is none. */
async function findChanges(
  base: string,
  wanted: Record<string, unknown> & { path: string },
): Promise<Check | null> {
  return (await hasDocument(base, wanted.path)) ? checkDocument(base, wanted) : null;
}

function change(id: string, part: Partial<Upload>): void {
  set(uploads.map((item) => (item.id === id ? { ...item, ...part } : item)));
}

function set(next: readonly Upload[]): void {
  uploads = next;
  store(next);
  for (const listener of listeners) listener();
}

/** What a reload needs to go on: names and ids, never a content. */
function store(all: readonly Upload[]): void {
  const kept = all
    .filter((item) => item.upload && item.state !== "done" && !item.check && item.size > SMALL)
    .slice(-MOST_STORED)
    .map(({ base, name, path, size, sent, upload }) => ({ base, name, path, size, sent, upload }));
  try {
    if (kept.length > 0) localStorage.setItem(STORED, JSON.stringify(kept));
    else localStorage.removeItem(STORED);
  } catch {
    // Without storage an interrupted upload begins anew.
  }
}

function readStored(): readonly Upload[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(STORED) ?? "[]");
    return Array.isArray(kept) ? kept.map(makeLost) : [];
  } catch {
    return [];
  }
}

function makeLost(kept: Record<string, unknown>): Upload {
  return {
    id: newKey(),
    base: String(kept.base),
    name: String(kept.name),
    path: String(kept.path),
    size: Number(kept.size) || 0,
    sent: Number(kept.sent) || 0,
    upload: String(kept.upload),
    ...{ state: "lost", error: null, document: null, isKnown: false, check: null },
  };
}
