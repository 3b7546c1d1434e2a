// The files that this tab sends to bases, and what waits on the server since an earlier page.

import { useSyncExternalStore } from "react";
import { addDocuments, type Check, type Doc, hasDocument } from "../api/knowledge";
import { newKey } from "../api/new_key";
import { checkUpload, discardUpload, type StoredUpload } from "../api/uploads";
import { type SentBody, sendFile, SMALL } from "./upload_parts";

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
  /** Unix seconds after which the server deletes it; null where it is not known. */
  expiresAt: number | null;
  document: Doc | null;
  isKnown: boolean;
  /** What it would change of the document whose place it takes; null where it was not compared. */
  check: Check | null;
  /** Whether the person has decided to take it in, whatever it changes. */
  isDecided: boolean;
}

const AT_ONCE = 2;
const BUSY = ["sending", "checking", "adding"];

const files = new Map<string, File>();
const stops = new Map<string, AbortController>();
/** The uploads that are over for this page: the list of the server may still have them. */
const over = new Set<string>();
const listeners = new Set<() => void>();
let uploads: readonly Upload[] = [];

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

/** The uploads of a base: those of this tab, and those that wait on the server. */
export function mergeUploads(
  own: readonly Upload[],
  stored: readonly StoredUpload[],
  base: string,
): readonly Upload[] {
  const expiries = new Map(stored.map((item) => [item.id, item.expires_at]));
  const mine = own
    .filter((item) => item.base === base)
    .map((item) => ({ ...item, expiresAt: expiries.get(item.upload) ?? item.expiresAt }));
  const known = new Set(own.map((item) => item.upload));
  const left = stored.filter(({ id, base: of }) => of === base && !known.has(id) && !over.has(id));
  return [...left.map(readStored), ...mine];
}

function readStored(stored: StoredUpload): Upload {
  const { id, base, name, path, size, offset } = stored;
  return {
    ...{ id, base, name, path: path || name, size, sent: offset, upload: id },
    state: offset === size ? "changed" : "lost",
    expiresAt: stored.expires_at,
    ...{ error: null, document: null, isKnown: false, check: null, isDecided: false },
  };
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
      ...{ state: "waiting" as const, error: null, document: null, isKnown: false },
      ...{ expiresAt: null, check: null, isDecided: false },
    };
  });
  set([...uploads, ...made]);
  startNext();
}

/** Go on with one that a reload has interrupted; false when it is another file. */
export function resumeUpload(upload: Upload, file: File): boolean {
  if (file.name !== upload.name || file.size !== upload.size) return false;
  files.set(upload.id, file);
  start(upload, { error: null });
  return true;
}

/** Try one again that has failed. */
export function retryUpload(upload: Upload): void {
  start(upload, { error: null });
}

/** Take in what waits for a decision, in place of the document before. */
export function confirmUpload(upload: Upload): void {
  if (upload.state === "changed") start(upload, { isDecided: true });
}

/** Stop one, or take it from the list: what the server has of it is deleted there, too. */
export function removeUpload({ id, upload, state }: Upload): void {
  stops.get(id)?.abort();
  stops.delete(id);
  files.delete(id);
  set(uploads.filter((item) => item.id !== id));
  if (upload && state !== "done") discard(upload);
  startNext();
}

function discard(upload: string): void {
  over.add(upload);
  // What cannot be deleted now is shown again, and goes by itself when it expires.
  discardUpload(upload).catch(() => {
    over.delete(upload);
    notify();
  });
}

function start(upload: Upload, part: Partial<Upload>): void {
  if (!uploads.some((item) => item.id === upload.id)) set([...uploads, upload]);
  change(upload.id, { ...part, state: "waiting" });
  startNext();
}

function startNext(): void {
  const busy = uploads.filter((item) => BUSY.includes(item.state)).length;
  const next = uploads.filter(
    (item) => item.state === "waiting" && (files.has(item.id) || item.isDecided),
  );
  for (const upload of next.slice(0, Math.max(0, AT_ONCE - busy))) void run(upload);
}

async function run(item: Upload): Promise<void> {
  const { id, base, path } = item;
  const stop = new AbortController();
  stops.set(id, stop);
  change(id, { state: item.isDecided ? "adding" : "sending" });
  try {
    const body = item.isDecided ? { upload: item.upload } : await sendAndCompare(item, stop.signal);
    if (body === null || stop.signal.aborted) return;
    change(id, { state: "adding" });
    const { documents } = await addDocuments(base, { ...body, path });
    const [added] = documents;
    const isKnown = added?.outcome === "already_here";
    files.delete(id);
    if ("upload" in body) over.add(body.upload);
    // The document is in the list from now on; what was there already is said once.
    if (isKnown) change(id, { state: "done", document: added.document, isKnown });
    else set(uploads.filter((other) => other.id !== id));
    window.dispatchEvent(new CustomEvent("documents-added", { detail: base }));
  } catch (error) {
    if (!stop.signal.aborted) change(id, { state: "failed", error: error as Error });
  } finally {
    stops.delete(id);
    startNext();
  }
}

/** Send a file; null where it waits for a decision, since it differs from the document here. */
async function sendAndCompare(item: Upload, signal: AbortSignal): Promise<SentBody | null> {
  const { id, base, path } = item;
  const file = files.get(id);
  if (!file) return null;
  const isSmall = file.size <= SMALL && !item.upload;
  // A small file goes with the request that takes it in, unless a decision may have to wait.
  const isStored = !isSmall || (await hasDocument(base, path));
  const body = await sendFile({
    ...{ file, base, path, isStored, signal, upload: item.upload },
    onStart: (upload) => (signal.aborted ? discard(upload) : change(id, { upload })),
    onProgress: (sent) => change(id, { sent }),
  });
  if (signal.aborted || !("upload" in body)) return body;
  change(id, { state: "checking", sent: file.size });
  if (!isSmall && !(await hasDocument(base, path))) return body;
  const check = await checkUpload(base, body.upload, path);
  if (signal.aborted || check.outcome !== "changed") return body;
  files.delete(id);
  change(id, { state: "changed", check });
  window.dispatchEvent(new Event("upload-waits"));
  return null;
}

function change(id: string, part: Partial<Upload>): void {
  set(uploads.map((item) => (item.id === id ? { ...item, ...part } : item)));
}

function set(next: readonly Upload[]): void {
  uploads = next;
  notify();
}

function notify(): void {
  for (const listener of listeners) listener();
}
