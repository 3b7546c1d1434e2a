import { expect, test } from "vitest";
import { messages } from "../src/words/messages";

const SOURCES = import.meta.glob<string>(
  [
    "../src/app/{shell,sign_in}.tsx",
    "../src/pages/{approvals,chat}/*.tsx",
    "../src/parts/{approval_card,approval_cards,call_card,composer,decision,states}.tsx",
  ],
  { query: "?raw", import: "default", eager: true },
);
/** Text of its own line between tags, and attributes that people read. */
const TEXTS = [
  /^ +[A-Z][a-z]+( [a-z]+)+[.:]?$/m,
  /\b(aria-label|placeholder|title|label|what|missing)="[A-Z]/,
  />(?!Pegboard<)[A-Z][a-z]+( [a-z]+)*</,
];

test("a sentence is written once", () => {
  const texts = Object.values(messages).filter((item) => typeof item === "string");
  expect(texts.filter((item, index) => texts.indexOf(item) !== index)).toEqual([]);
});

test("nothing begs, apologises, cheers or shouts", () => {
  const said = Object.values(messages).map((item) => String(item));
  expect(said.filter((text) => /please|sorry|oops|success|!(?!=)/i.test(text))).toEqual([]);
});

test.each(Object.entries(SOURCES))("%s takes its words from the messages", (name, source) => {
  const found = TEXTS.flatMap((pattern) => pattern.exec(source)?.[0] ?? []);
  expect(found, name).toEqual([]);
});

test("messages with values are sentences", () => {
  expect(messages.madePlan(1)).toBe("made a plan of 1 step");
  expect(messages.foldedCalls(12, "3.1 s")).toBe("12 calls, 3.1 s");
  expect(messages.tryOf(2, 3, "did not answer") + messages.nextIn("4 s")).toBe(
    "Try 2 of 3, after: did not answer; next in 4 s",
  );
});
