import { describe, expect, it } from "vitest";
import { readSkillFiles } from "../src/stream/skill_files";
import { readZip } from "../src/stream/zip";

/** Written by Python's zipfile: a folder, two deflated files and a stored one, and what macOS adds. */
const REAL =
  "UEsDBBQAAAAAAAAAIQAAAAAAAAAAAAAAAAAIAAAAcmVmdW5kcy9QSwMEFAAAAAgA2WB8XdQwjcU1AAAAOQAAABAAAAByZWZ1bmRzL1NLSUxMLm1k09XV5cpLzE21UihKTSvNSynmSkktTi7KLCjJzM+zUvDIL1coyYfK6XHpAlW7ZRYVl+hxAQBQSwMEFAAAAAgA2WB8Xa+1zKMKAAAAyAAAABwAAAByZWZ1bmRzL3JlZmVyZW5jZXMvZGFtYWdlLm1kcyzO1lNwHPoEAFBLAwQUAAAAAAAAACEA88zb3gkAAAAJAAAAEQAAAHJlZnVuZHMvc3RvcmVkLm1kQXMgaXQgaXMuUEsDBBQAAAAIANlgfF1w5rMxBAAAAAIAAAAbAAAAX19NQUNPU1gvcmVmdW5kcy8uX1NLSUxMLm1kY2AFAFBLAQIUAxQAAAAAAAAAIQAAAAAAAAAAAAAAAAAIAAAAAAAAAAAAEAD/QQAAAAByZWZ1bmRzL1BLAQIUAxQAAAAIANlgfF3UMI3FNQAAADkAAAAQAAAAAAAAAAAAAACAASYAAAByZWZ1bmRzL1NLSUxMLm1kUEsBAhQDFAAAAAgA2WB8Xa+1zKMKAAAAyAAAABwAAAAAAAAAAAAAAIABiQAAAHJlZnVuZHMvcmVmZXJlbmNlcy9kYW1hZ2UubWRQSwECFAMUAAAAAAAAACEA88zb3gkAAAAJAAAAEQAAAAAAAAAAAAAAgAHNAAAAcmVmdW5kcy9zdG9yZWQubWRQSwECFAMUAAAACADZYHxdcOazMQQAAAACAAAAGwAAAAAAAAAAAAAAgAEFAQAAX19NQUNPU1gvcmVmdW5kcy8uX1NLSUxMLm1kUEsFBgAAAAAFAAUARgEAAEIBAAAAAA==";
const TEXT = "---\nname: refunds\ndescription: How to refund.\n---\nFirst.\n";

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
const fileOf = (bytes: Uint8Array<ArrayBuffer>) => new File([bytes], "refunds.zip");

interface Faults {
  path?: string;
  flags?: number;
  method?: number;
  packed?: number;
}

/** An archive of one file, with the faults of one that somebody has made by hand. */
async function makeZip(text: string, faults: Faults = {}): Promise<File> {
  const deflated = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const content = new Uint8Array(await new Response(deflated).arrayBuffer());
  const name = new TextEncoder().encode(faults.path ?? "SKILL.md");
  const local = new DataView(new ArrayBuffer(30));
  local.setUint32(0, 0x04034b50, true);
  local.setUint16(26, name.length, true);
  const entry = new DataView(new ArrayBuffer(46));
  entry.setUint32(0, 0x02014b50, true);
  entry.setUint16(8, faults.flags ?? 0, true);
  entry.setUint16(10, faults.method ?? 8, true);
  entry.setUint32(20, faults.packed ?? content.length, true);
  entry.setUint16(28, name.length, true);
  const end = new DataView(new ArrayBuffer(22));
  end.setUint32(0, 0x06054b50, true);
  end.setUint16(10, 1, true);
  end.setUint32(16, 30 + name.length + content.length, true);
  return new File([local, name, content, entry, name, end], "skill.zip");
}

describe("readZip", () => {
  it("reads what common programs write", async () => {
    const found = await readZip(fileOf(bytesOf(REAL)), 10_000);
    const texts = await Promise.all(found.map(async ({ file, path }) => [path, await file.text()]));
    expect(texts.slice(0, 3)).toEqual([
      ["refunds/SKILL.md", TEXT],
      ["refunds/references/damage.md", "Ask. ".repeat(40)],
      ["refunds/stored.md", "As it is."],
    ]);
  });

  it("stops what unfolds to more than it may", async () => {
    const bomb = await makeZip("x".repeat(5_000_000));
    expect(bomb.size).toBeLessThan(10_000);
    await expect(readZip(bomb, 256_000)).rejects.toMatchObject({ why: "too large" });
  });

  it.each([
    ["outside", { path: "../SKILL.md" }],
    ["outside", { path: "/etc/SKILL.md" }],
    ["outside", { path: "a\\..\\SKILL.md" }],
    ["encrypted", { flags: 1 }],
    ["no archive", { method: 14 }],
    ["no archive", { packed: 1_000_000 }],
  ] as const)("refuses one that is %s: %o", async (why, faults) => {
    await expect(readZip(await makeZip(TEXT, faults), 256_000)).rejects.toMatchObject({ why });
  });

  it.each([0, 5, 21, 60, 200])("refuses the first %i bytes of an archive", async (length) => {
    const cut = fileOf(bytesOf(REAL).slice(0, length));
    await expect(readZip(cut, 256_000)).rejects.toMatchObject({ why: "no archive" });
  });
});

describe("a skill in an archive", () => {
  it("is the folder of its SKILL.md", async () => {
    const chosen = [{ file: fileOf(bytesOf(REAL)), path: "refunds.zip" }];
    expect(Object.keys(await readSkillFiles(chosen))).toEqual([
      "SKILL.md",
      "references/damage.md",
      "stored.md",
    ]);
  });

  it("is refused with its reason", async () => {
    const chosen = [{ file: new File(["no zip"], "refunds.zip"), path: "refunds.zip" }];
    await expect(readSkillFiles(chosen)).rejects.toMatchObject({
      why: "no archive",
      path: "refunds.zip",
    });
  });
});
