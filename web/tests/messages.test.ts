import { expect, test } from "vitest";
import { boardWords } from "../src/words/board";
import { forms } from "../src/words/forms";
import { messages } from "../src/words/messages";
import { runWords } from "../src/words/runs";
import { toolWords } from "../src/words/tools";

const SOURCES = import.meta.glob<string>(
  [
    "../src/app/{palette,shell,sign_in}.tsx",
    "../src/pages/{approvals,chat,overview,run,runs,sources,tools}/*.tsx",
    "../src/parts/{approval_card,approval_cards,call_card,composer,decision,pegs,states}.tsx",
    "../src/parts/{schema_fields,schema_form,waterfall}.tsx",
  ],
  { query: "?raw", import: "default", eager: true },
);
const FILES = [messages, boardWords, forms, runWords, toolWords];
const SAID = FILES.flatMap((words) => Object.values<unknown>(words));
/** Text of its own line between tags, and attributes that people read. */
const TEXTS = [
  /^ +[A-Z][a-z]+( [a-z]+)+[.:]?$/m,
  /\b(aria-label|placeholder|title|label|what|missing)="[A-Z]/,
  />(?!Pegboard<)[A-Z][a-z]+( [a-z]+)*</,
];

test("a sentence is written once, and a word once a file: it may be a noun here and a verb there", () => {
  const isTwice = (text: string, at: number, texts: string[]) => texts.indexOf(text) !== at;
  const sentences = SAID.map(String).filter((item) => item.includes(" "));
  expect(sentences.filter(isTwice)).toEqual([]);
  for (const words of FILES)
    expect(Object.values<unknown>(words).map(String).filter(isTwice)).toEqual([]);
});

test("nothing begs, apologises, cheers or shouts", () => {
  const said = SAID.map(String);
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
