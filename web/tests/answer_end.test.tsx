import { renderToStaticMarkup } from "react-dom/server";
import { expect, test, vi } from "vitest";
import type { Exchange } from "../src/api/queries";
import { AnswerEnd } from "../src/pages/chat/answer_end";
import { messages } from "../src/words/messages";

vi.stubGlobal("navigator", {}); // Node 20 has none

const render = (given: Partial<Exchange>) =>
  renderToStaticMarkup(<AnswerEnd exchange={{ state: "completed", ...given } as Exchange} />);

test.each([
  [{ answer: "Half", finish: "length" }, messages.cutByLimit],
  [{ answer: "", finish: "content_filter" }, "content filter"],
  [{ answer: "", finish: "stop" }, messages.noAnswer],
] as const)("an answer that is not whole says why: %o", (given, says) => {
  expect(render(given)).toContain(says);
});

test("a whole answer, and one in progress, say nothing", () => {
  expect(render({ answer: "It is 42.", finish: "stop" })).not.toContain("<p");
  expect(render({ answer: "", finish: "stop", state: "working" })).toBe("");
});
