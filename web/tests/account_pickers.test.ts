import { expect, test } from "vitest";
import type { Credential } from "../src/api/credentials";
import { listChoices } from "../src/pages/chat/account_pickers";

const own = (source: string, name: string, is_default = false) =>
  ({ source, name, is_default }) as Credential;

test("an account is chosen where one has several, or has chosen one that is gone", () => {
  const all = [own("github", "work", true), own("github", "home"), own("jira", "default", true)];

  expect(listChoices(all, {})).toEqual([
    { source: "github", names: ["work", "home"], byDefault: "work" },
  ]);
  expect(listChoices(all, { crm: "old" })[0]).toEqual({
    source: "crm",
    names: ["old"],
    byDefault: "",
  });
});
