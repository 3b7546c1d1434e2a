import { expect, test } from "vitest";
import { secrets } from "../src/words/credentials";
import { explaining } from "../src/words/explain";
import { messages } from "../src/words/messages";
import { sharing } from "../src/words/resources";
import { namePeople, namePerson, nameRoles, people } from "../src/words/people";

const SOURCES = import.meta.glob<string>(
  [
    "../src/app/{account_menu,navigation}.tsx",
    "../src/pages/{agents,connect,credentials,explain,keys,market,organisation}/*.tsx",
    "../src/pages/sources/connectors.tsx",
    "../src/parts/{config_form,confirm,key_table,new_key,resource_rows,role_dialog,shown_once,who_sees}.tsx",
  ],
  { query: "?raw", import: "default", eager: true },
);
/** Text of its own line between tags, and attributes that people read. */
const TEXTS = [
  /^ +[A-Z][a-z]+( [a-z]+)+[.:]?$/m,
  /\b(aria-label|placeholder|title|label|what|missing)="[A-Z]/,
  />[A-Z][a-z]+( [a-z]+)*</,
];

const FILES = [people, explaining, secrets, sharing, messages];
const isTwice = (text: string, at: number, texts: string[]) => texts.indexOf(text) !== at;

test("a sentence is written once, and a word once a file", () => {
  const said = FILES.map((words) =>
    Object.values<unknown>(words).filter((item) => typeof item === "string"),
  );
  expect(
    said
      .flat()
      .filter((item) => item.includes(" "))
      .filter(isTwice),
  ).toEqual([]);
  for (const texts of said) expect(texts.filter(isTwice)).toEqual([]);
});

test.each(Object.entries(SOURCES))("%s takes its words from the messages", (name, source) => {
  const found = TEXTS.flatMap((pattern) => pattern.exec(source)?.[0] ?? []);
  expect(found, name).toEqual([]);
});

test("words with values are sentences", () => {
  expect(people.peopleWait(1)).toBe("1 person waits");
  expect(people.peopleWait(2)).toBe("2 people wait");
  expect(people.showEnded(1)).toBe("Show 1 key that no longer works");
  expect(nameRoles(["administrator", "own"])).toBe("Administrator, own");
});

test("a person whose name is not the handle is named by both", () => {
  expect(namePerson("bob", "bob")).toBe("bob");
  expect(namePerson("bob", "fakebob")).toBe("bob (fakebob)");
  expect(namePerson("bob\u202e", "fakebob")).toBe("bob\\u202e (fakebob)");
  expect(namePerson("b".repeat(100), "fakebob")).toBe(`${"b".repeat(32)}… (fakebob)`);
  expect(namePerson()).toBe("");
  const page = { names: { u_1: "bob", u_2: "bob" }, handles: { u_1: "bob", u_2: "fakebob" } };
  expect(namePeople(page)).toEqual({ u_1: "bob", u_2: "bob (fakebob)" });
});
