import { describe, expect, test } from "vitest";
import type { Exchange } from "../src/api/queries";
import { findBranch, findLastAnswered } from "../src/stream/branch";

const said = (id: string, state: Exchange["state"], parent = ""): Exchange =>
  ({ id, state, parent }) as Exchange;
const names = (exchanges: readonly Exchange[]) => exchanges.map((item) => item.id);

describe("the messages of a conversation", () => {
  test("are those that lead to the last one, then those that wait", () => {
    const all = [
      said("a", "completed"),
      said("b", "failed", "a"),
      said("c", "working", "a"),
      said("d", "queued", "b"),
    ];
    expect(names(findBranch(all, "c"))).toEqual(["a", "c", "d"]);
  });

  test.each<[string, Exchange["state"]]>([
    ["reached the agent while it worked", "steered"],
    ["was withdrawn", "withdrawn"],
  ])("the answered one can be changed although one %s behind it", (_, state) => {
    const branch = [said("a", "completed"), said("b", "failed", "a"), said("c", state, "b")];
    expect(findLastAnswered(branch)?.id).toBe("b");
  });

  test("one that waits is the last", () => {
    expect(findLastAnswered([said("a", "working"), said("b", "queued", "a")])?.id).toBe("b");
  });
});
