// One file on its way to the server: in parts with digests, from where it stopped.

import { makeError, request, send } from "../api/client";
import { ApiError, Unreachable } from "../api/errors";
import { readFile } from "./send_message";

const PART = 4 * 1024 * 1024;
const LONGEST_WAIT = 30_000;
/** A file up to this size goes with the request that takes it in. */
export const SMALL = 256 * 1024;

export interface Sending {
  file: File;
  /** The id of an upload that began before; empty for a new one. */
  upload: string;
  /** The base that it is for, and its path there, by which a later page finds it again. */
  base: string;
  path: string;
  /** Whether a small file is stored on the server, too. */
  isStored: boolean;
  signal: AbortSignal;
  onStart: (upload: string) => void;
  onProgress: (sent: number) => void;
}

export type SentBody = { file: unknown } | { upload: string };

/** The body of a request that takes a file in: the file itself, or the id of its upload. */
export async function sendFile(sending: Sending): Promise<SentBody> {
  const { file } = sending;
  if (file.size <= SMALL && !sending.isStored) return { file: await readFile(file) };
  const state = await begin(sending);
  let offset = state.offset;
  sending.onStart(state.id);
  sending.onProgress(offset);
  for (let failures = 0; offset < file.size; ) {
    try {
      const part = file.slice(offset, offset + Math.min(PART, state.max_part_bytes ?? PART));
      offset = await sendPart(state.id, part, offset, sending.signal);
      sending.onProgress(offset);
      failures = 0;
    } catch (error) {
      if (sending.signal.aborted || !isPassing(error)) throw error;
      await sleep(Math.min(1000 * 2 ** failures, LONGEST_WAIT), sending.signal);
      failures += 1;
      // What arrived before the connection was lost is not sent again.
      offset = (await find(state.id, sending.signal).catch(() => null))?.offset ?? offset;
    }
  }
  return { upload: state.id };
}

interface UploadState {
  id: string;
  offset: number;
  size: number;
  max_part_bytes?: number;
}

async function begin({ file, upload, base, path, signal }: Sending): Promise<UploadState> {
  const known = upload ? await find(upload, signal).catch(() => null) : null;
  if (known && known.size === file.size) return known;
  return send<UploadState>("POST", "/uploads", {
    ...{ name: file.name, size: file.size, purpose: "knowledge", base, path },
  });
}

async function find(upload: string, signal: AbortSignal): Promise<UploadState> {
  const response = await request(`/uploads/${encodeURIComponent(upload)}`, { signal });
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw makeError(response, body);
  return body as UploadState;
}

/** Sends one part; returns the offset behind it. */
async function sendPart(
  upload: string,
  part: Blob,
  offset: number,
  signal: AbortSignal,
): Promise<number> {
  const body = await part.arrayBuffer();
  const digest = await digestOf(body);
  const response = await request(`/uploads/${encodeURIComponent(upload)}`, {
    method: "PATCH",
    headers: {
      "Content-Type": "application/octet-stream",
      "Upload-Offset": String(offset),
      ...(digest ? { "Content-Digest": `sha-256=:${digest}:` } : {}),
    },
    body,
    signal,
  });
  const said: unknown = await response.json().catch(() => null);
  if (!response.ok) throw makeError(response, said);
  return (said as UploadState).offset;
}

/** SHA-256 in Base64; empty where the browser has no digests, as over plain HTTP. */
async function digestOf(bytes: ArrayBuffer): Promise<string> {
  const subtle: SubtleCrypto | undefined = globalThis.crypto?.subtle;
  if (!subtle) return "";
  const digest = new Uint8Array(await subtle.digest("SHA-256", bytes));
  return btoa(String.fromCharCode(...digest));
}

/** Whether a later try may help: nobody answers, or the server says so; an offset is asked anew. */
function isPassing(error: unknown): boolean {
  if (error instanceof Unreachable) return true;
  return error instanceof ApiError && (error.status >= 500 || [409, 429].includes(error.status));
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
