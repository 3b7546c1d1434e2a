import { describe, expect, it } from "vitest";
import { readSkillFiles, readSkillName } from "../src/stream/skill_files";

const TEXT = "---\nname: refunds\ndescription: How to refund.\n---\nFirst.\n";

function file(path: string, content: string | Uint8Array<ArrayBuffer> = TEXT) {
  return { path, file: new File([content], path.split("/").at(-1) ?? "") };
}

describe("readSkillFiles", () => {
  it("takes the folder of the uppermost SKILL.md, without hidden files", async () => {
    const chosen = [
      file("top/refunds/SKILL.md"),
      file("top/refunds/references/damage.md", "Ask."),
      file("top/refunds/inner/SKILL.md", "other"),
      file("top/refunds/.git/config", "x"),
      file("top/README.md", "x"),
    ];
    expect(await readSkillFiles(chosen)).toEqual({
      "SKILL.md": TEXT,
      "references/damage.md": "Ask.",
      "inner/SKILL.md": "other",
    });
  });

  it.each([
    ["no skill", [file("README.md")]],
    ["not text", [file("SKILL.md"), file("a.png", new Uint8Array([0x89, 0xff]))]],
    ["too large", [file("SKILL.md"), file("a.md", "x".repeat(300_000))]],
  ] as const)("refuses what is %s", async (why, chosen) => {
    await expect(readSkillFiles(chosen)).rejects.toMatchObject({ why });
  });
});

describe("readSkillName", () => {
  it.each([
    [TEXT, "refunds"],
    ['\ufeff---\r\nname: "a-b"\r\n---\r\n', "a-b"],
    ["---\ndescription: x\n---\nname: late", ""],
    ["name: refunds", ""],
  ])("finds the name in the front matter: %j", (text, name) => {
    expect(readSkillName(text)).toBe(name);
  });
});
