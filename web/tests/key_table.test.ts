import { describe, expect, it } from "vitest";
import type { Key } from "../src/api/people";
import { endOf } from "../src/parts/key_table";

const now = Date.now() / 1000;

function key(changes: Partial<Key>): Key {
  return {
    id: "key_1",
    name: "ci",
    hint: "pegboard_ab",
    scopes: ["*"],
    client: "",
    created_at: now - 7200,
    expires_at: null,
    renewable_until: null,
    used_at: null,
    revoked_at: null,
    ...changes,
  };
}

describe("the end of a key", () => {
  it("is when it expires, where no client renews it", () => {
    expect(endOf(key({}))).toBe("");
    expect(endOf(key({ expires_at: now + 60 }))).toBe("");
    expect(endOf(key({ expires_at: now - 60 }))).toBe("Ended");
  });

  it("is when its client may renew it no more, so that it can be revoked until then", () => {
    const idle = { client: "https://app.example/client", expires_at: now - 60 };
    expect(endOf(key({ ...idle, renewable_until: now + 3600 }))).toBe("");
    expect(endOf(key({ ...idle, renewable_until: now - 1 }))).toBe("Ended");
  });

  it("is when it was revoked", () => {
    expect(endOf(key({ renewable_until: now + 3600, revoked_at: now }))).toBe("Revoked");
  });
});
