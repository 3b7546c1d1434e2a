import { expect, test } from "vitest";
import { describeKey, showKey } from "../src/parts/schema";

test.each([
  ["hidden_tables", { title: "Hidden Tables" }, "Hidden tables"],
  ["base_url", { title: "Base Url" }, "Base URL"],
  ["base_url", { title: "Address of the API" }, "Address of the API"],
  ["ApiKeyCredential", {}, "API key credential"],
  ["OAuthAccess", {}, "OAuth access"],
])("a setting %s is called %o in a form of a source: %s", (key, schema, label) => {
  expect(describeKey(key, schema)).toBe(label);
});

test("a form of a tool shows the keys that callers send", () => {
  expect(showKey("base_url", { title: "Base Url" })).toBe("base_url");
});
