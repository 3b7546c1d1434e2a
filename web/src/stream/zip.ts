// The files of a zip archive, read in the browser: stored and deflated ones, within limits.

import type { ChosenFile } from "./uploads";

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const END_SIZE = 22;
const LONGEST_COMMENT = 65_535;
const STORED = 0;
const DEFLATED = 8;
const MOST_FILES = 500;
const IS_ENCRYPTED = 1;

/** Why an archive cannot be read. */
export class NoZip extends Error {
  constructor(readonly why: "no archive" | "encrypted" | "too large" | "outside") {
    super(why);
  }
}

export function isZip(file: File): boolean {
  return file.name.toLowerCase().endsWith(".zip");
}

/** The files of an archive, of together at most so many bytes once they are unpacked. */
export async function readZip(archive: File, mostBytes: number): Promise<ChosenFile[]> {
  // Texts become smaller in an archive: a much larger one is not even read.
  if (archive.size > 4 * mostBytes) throw new NoZip("too large");
  const bytes = new Uint8Array(await archive.arrayBuffer());
  const view = new DataView(bytes.buffer);
  const found: ChosenFile[] = [];
  let left = mostBytes;
  try {
    for (const entry of listEntries(view, bytes)) {
      if (entry.path.endsWith("/")) continue;
      const content = await unpack(view, bytes, entry, left);
      left -= content.length;
      const name = entry.path.split("/").at(-1) ?? entry.path;
      found.push({ file: new File([content], name), path: entry.path });
    }
  } catch (error) {
    // An offset beyond the end, and what is no deflated text.
    if (error instanceof RangeError || error instanceof TypeError) throw new NoZip("no archive");
    throw error;
  }
  return found;
}

interface Entry {
  path: string;
  method: number;
  packed: number;
  start: number;
}

/** What the directory at the end of the archive says; its sizes count, not those of the entries. */
function* listEntries(view: DataView, bytes: Uint8Array): Generator<Entry> {
  const end = findEnd(view);
  const count = view.getUint16(end + 10, true);
  if (count > MOST_FILES) throw new NoZip("too large");
  let at = view.getUint32(end + 16, true);
  for (let number = 0; number < count; number++) {
    if (view.getUint32(at, true) !== ENTRY) throw new NoZip("no archive");
    if (view.getUint16(at + 8, true) & IS_ENCRYPTED) throw new NoZip("encrypted");
    const length = view.getUint16(at + 28, true);
    const path = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + length));
    if (path.startsWith("/") || /\\|(^|\/)\.\.(\/|$)|^[a-z]:/i.test(path))
      throw new NoZip("outside");
    yield {
      path,
      method: view.getUint16(at + 10, true),
      packed: view.getUint32(at + 20, true),
      start: view.getUint32(at + 42, true),
    };
    at += 46 + length + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
}

function findEnd(view: DataView): number {
  const first = Math.max(0, view.byteLength - END_SIZE - LONGEST_COMMENT);
  for (let at = view.byteLength - END_SIZE; at >= first; at--)
    if (view.getUint32(at, true) === END) return at;
  throw new NoZip("no archive");
}

async function unpack(
  view: DataView,
  bytes: Uint8Array,
  { method, packed, start }: Entry,
  most: number,
): Promise<Uint8Array<ArrayBuffer>> {
  if (view.getUint32(start, true) !== LOCAL) throw new NoZip("no archive");
  const from = start + 30 + view.getUint16(start + 26, true) + view.getUint16(start + 28, true);
  const content = bytes.slice(from, from + packed);
  if (content.length !== packed) throw new NoZip("no archive");
  if (method === STORED) {
    if (packed > most) throw new NoZip("too large");
    return content;
  }
  if (method !== DEFLATED) throw new NoZip("no archive");
  const stream = new Blob([content]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return readAtMost(stream.getReader(), most);
}

/** All of a stream; one that unfolds to more than it may is stopped there. */
async function readAtMost(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  most: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      await reader.cancel();
      throw new NoZip("too large");
    }
    parts.push(value);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
