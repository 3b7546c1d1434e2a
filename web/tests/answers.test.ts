import { describe, expect, test } from "vitest";
import { type Answer, addEvents, type CallPart } from "../src/stream/answers";
import type { Sent } from "../src/stream/follow";

const sent = (event: string, data: Record<string, unknown> = {}): Sent => ({
  id: "",
  event,
  data: { message: "m1", at: 100, ...data },
});
const fold = (...events: Sent[]): Answer => addEvents(new Map(), events).get("m1") as Answer;
const called = { turn: 1, call: "a", tool: "shop__refund", arguments: { amount: 1 } };

describe("the answers of a conversation", () => {
  test("pieces of text of one turn are one text", () => {
    const answer = fold(
      sent("run_started", { run_id: "r1" }),
      sent("text_delta", { turn: 1, text: "Hel" }),
      sent("text_delta", { turn: 1, text: "lo" }),
    );
    expect(answer.runId).toBe("r1");
    expect(answer.parts).toMatchObject([{ kind: "text", text: "Hello" }]);
  });

  test("a turn that begins again replaces what it had said", () => {
    const answer = fold(
      sent("step", { turn: 1 }),
      sent("text_delta", { turn: 1, text: "cut of" }),
      sent("step", { turn: 1 }),
      sent("text_delta", { turn: 1, text: "whole" }),
    );
    expect(answer.parts).toMatchObject([{ text: "whole" }]);
  });

  test("a call waits, is approved, runs again, and ends", () => {
    const waiting = fold(
      sent("tool_started", called),
      sent("approval_required", { ...called, approval: "ap1", reason: "ask" }),
    );
    expect(waiting.parts).toMatchObject([{ state: "waiting", approval: "ap1" }]);
    const ended = addEvents(new Map([["m1", waiting]]), [
      sent("tool_started", called),
      sent("tool_finished", { ...called, state: "completed", duration_ms: 5, text: "done" }),
    ]).get("m1") as Answer;
    expect(ended.parts).toHaveLength(1);
    expect(ended.parts[0]).toMatchObject({ state: "completed", approval: "ap1", result: "done" });
    expect((waiting.parts[0] as CallPart).state).toBe("waiting");
  });

  test("a call that needs an account waits as one that needs an approval", () => {
    const waiting = fold(
      sent("tool_started", called),
      sent("credential_required", { ...called, approval: "ap1", reason: "none", link: "" }),
    );
    expect(waiting.parts).toMatchObject([{ state: "waiting", approval: "ap1" }]);
  });

  test("the calls of an agent that was called are not those of its caller", () => {
    const answer = fold(
      sent("tool_started", { ...called, tool: "call_agent" }),
      sent("tool_started", { ...called, parent: "t1-0" }),
      sent("tool_finished", { ...called, parent: "t1-0", state: "completed", text: "done" }),
    );
    expect(answer.parts).toMatchObject([
      { tool: "call_agent", state: "running" },
      { tool: "shop__refund", state: "completed" },
    ]);
  });

  test("tries and progress of a call stand in its row until it has ended", () => {
    const retried = [
      sent("tool_started", called),
      sent("tool_progress", { ...called, done: 1, total: 3, text: "first shelf" }),
      sent("tool_progress", { ...called, attempt: 2, max_attempts: 3, delay: 4, error_code: "x" }),
    ];
    expect(fold(...retried.slice(0, 2)).parts).toMatchObject([
      { progress: "first shelf, 1 of 3", retry: null },
    ]);
    expect(fold(...retried).parts).toMatchObject([
      { progress: "", retry: { attempt: 2, most: 3, errorCode: "x", at: 104 } },
    ]);
    const again = fold(...retried, sent("tool_progress", { ...called, done: 2 }));
    expect(again.parts).toMatchObject([{ state: "running", progress: "", retry: { attempt: 2 } }]);
  });

  test("what ended is told once, with its error", () => {
    const answer = fold(
      sent("error", { code: "unavailable", detail: "the provider is busy" }),
      sent("done", { state: "failed", at: 120 }),
    );
    expect(answer).toMatchObject({ state: "failed", finishedAt: 120 });
    expect(answer.error?.message).toBe("the provider is busy");
  });

  test("a call that was stopped has ended, and one whose end is not told does not go on", () => {
    const answer = fold(
      sent("tool_started", called),
      sent("tool_finished", { ...called, state: "cancelled", text: "the run was cancelled" }),
      sent("tool_started", { ...called, call: "b" }),
      sent("approval_required", { ...called, call: "c", approval: "ap1", reason: "ask" }),
      sent("done", { state: "cancelled" }),
    );
    expect(answer.parts).toMatchObject([
      { state: "cancelled" },
      { state: "unknown" },
      { state: "cancelled", approval: "ap1" },
    ]);
  });

  test("a message that the agent has read is noted, and told by its id", () => {
    const answer = fold(sent("message_received", { turn: 2, received: "m2", text: "in French" }));
    expect(answer.parts).toMatchObject([{ kind: "note", text: "Meanwhile you said: in French" }]);
    expect(answer.received).toEqual(["m2"]);
  });

  test("answers that no event touched stay the same object", () => {
    const first = addEvents(new Map(), [
      sent("run_started"),
      sent("text_delta", { turn: 1, text: "a" }),
    ]);
    const second = addEvents(first, [{ ...sent("run_started"), data: { message: "m2" } }]);
    expect(second.get("m1")).toBe(first.get("m1"));
    expect(second.get("m2")?.parts).toEqual([]);
  });

  test("what is missing is said once in a conversation", () => {
    const missing = { courier: "It does not answer.", search: "Searched by words only." };
    const answers = addEvents(new Map(), [
      sent("tools_missing", { missing }),
      sent("tools_missing", { message: "m2", missing: { ...missing, std: "It was removed." } }),
    ]);
    expect(answers.get("m1")?.parts).toMatchObject([
      { kind: "note", text: "Searched by words only." },
      { kind: "note", text: "Not available: courier", detail: "courier: It does not answer." },
    ]);
    expect(answers.get("m2")?.parts).toMatchObject([
      { text: "Not available: std", detail: "std: It was removed." },
    ]);
  });

  test("events that it does not know change nothing", () => {
    expect(fold(sent("run_started"), sent("never_heard_of", { turn: 3 })).parts).toEqual([]);
  });

  test("a plan has the state of its steps, and calls know theirs", () => {
    const answer = fold(
      sent("phase", { phase: "plan" }),
      sent("plan", {
        round: 1,
        steps: [
          { id: "a", title: "A" },
          { id: "b", title: "B", dependencies: ["a"] },
        ],
      }),
      sent("step", { step_id: "a", round: 1, state: "in_progress" }),
      sent("tool_started", { ...called, step_id: "a" }),
      sent("step_text", { step_id: "a", turn: 2, text: "found" }),
      sent("step", { step_id: "a", round: 1, state: "completed" }),
    );
    expect(answer.plan).toMatchObject([
      { id: "a", state: "completed", text: "found", needs: [] },
      { id: "b", state: "pending", needs: ["a"] },
    ]);
    expect(answer.parts).toMatchObject([{ kind: "call", step: "a" }]);
    expect(answer.phase).toBe("");
  });
});
