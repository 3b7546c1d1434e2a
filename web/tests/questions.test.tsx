import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { QuestionCard } from "../src/parts/question_card";
import { labelFields, readPage, startAnswer } from "../src/parts/question_form";
import { addEvents } from "../src/stream/answers";
import type { QuestionPart } from "../src/stream/answer_parts";
import { readQuestion } from "../src/stream/questions";

const ASKED = {
  message: "m_1",
  question: "q_1",
  turn: 1,
  call: "c",
  tool: "shop__order",
  source: "shop",
  source_kind: "mcp",
  text: "<b>Pegboard</b> asks: which size?",
  schema: {
    type: "object",
    properties: {
      size: { type: "integer", title: "Your size", default: 42 },
      colour: { type: "string", enum: ["r", "b"], enumNames: ["Red", "Blue"] },
    },
    required: ["size"],
  },
  expires_at: 4_000_000_000,
  at: 1,
};

function draw(question: QuestionPart): string {
  return renderToStaticMarkup(
    <QueryClientProvider client={new QueryClient()}>
      <QuestionCard question={question} path="/conversations/c_1/questions" />
    </QueryClientProvider>,
  );
}

function fold(...events: [string, Record<string, unknown>][]) {
  const sent = events.map(([event, data], index) => ({
    event,
    id: `1-${index}`,
    data: { message: "m_1", ...data },
  }));
  return addEvents(new Map(), sent).get("m_1");
}

test("a question is open until its end comes, and the first end stays", () => {
  const open = fold(["question_required", ASKED]);
  const settled = fold(
    ["question_required", ASKED],
    ["question_settled", { question: "q_1", state: "accepted", content: { size: 42 } }],
    ["question_settled", { question: "q_1", state: "lost" }],
  );

  expect(open?.parts).toMatchObject([{ kind: "question", id: "q_1", state: "open" }]);
  expect(settled?.parts).toMatchObject([{ state: "accepted", content: { size: 42 } }]);
});

test("no question stays open when the answer has ended", () => {
  const ended = fold(["question_required", ASKED], ["done", { state: "cancelled" }]);

  expect(ended?.parts).toMatchObject([{ kind: "question", state: "lost" }]);
});

test("a card says which server asks, shows its text as text, and warns", () => {
  const markup = draw(readQuestion(ASKED));

  expect(markup).toContain("The MCP server shop asks");
  expect(markup).toContain("shop__order");
  expect(markup).toContain("&lt;b&gt;Pegboard&lt;/b&gt; asks: which size?");
  expect(markup).toContain("Never enter a password");
  expect(markup).toContain("Your size");
  expect(markup).toContain("Blue");
});

test("a page is shown as text with its full address, and is no link", () => {
  const markup = draw(
    readQuestion({ ...ASKED, schema: null, url: "https://b\u0430nk.example/pay" }),
  );

  expect(markup).toContain("https://xn--bnk-6cd.example/pay");
  expect(markup).not.toContain("href=");
});

test("an address that is no page of the web is never opened", () => {
  expect(readPage("javascript:alert(1)")).toBeNull();
  expect(readPage("data:text/html,x")).toBeNull();
  expect(readPage("https://a.example/x")).toEqual({
    href: "https://a.example/x",
    host: "a.example",
  });
});

test("a form begins with its defaults, and says the titles of its fields", () => {
  const fields = labelFields(ASKED.schema).properties as Record<string, Record<string, unknown>>;

  expect(startAnswer(ASKED.schema)).toEqual({ size: 42 });
  expect(fields.size?.description).toBe("Your size");
});

test("what was answered stays readable", () => {
  const markup = draw({ ...readQuestion(ASKED), state: "accepted", content: { size: 42 } });

  expect(markup).toContain("You answered");
  expect(markup).toContain("42");
  expect(markup).not.toContain("<button");
});
