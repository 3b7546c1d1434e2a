import { expect, test } from "vitest";
import { rankChoices } from "../src/app/rank_choices";

const make = (...names: string[]) =>
  names.map((name) => ({ key: name, name, hint: "", text: name.toLowerCase(), go: () => {} }));
const show = (kinds: ReturnType<typeof make>[], text: string, most = 6) =>
  rankChoices(kinds, text, most).map(({ name }) => name);

test("what begins with the text comes first, then words that do", () => {
  expect(show([make("Reinvent", "shop__find_invoice", "Invoices")], "inv")).toEqual([
    "Invoices",
    "shop__find_invoice",
    "Reinvent",
  ]);
});

test("no kind takes the room of another, and the kind that fits best comes first", () => {
  const chats = make(...Array.from({ length: 20 }, (_, index) => `About invoice ${index}`));
  expect(show([make("Home"), make("Find invoice", "Invoice"), chats], "inv")).toEqual([
    "Invoice",
    "Find invoice",
    ...["About invoice 0", "About invoice 1", "About invoice 2", "About invoice 3"],
  ]);
  expect(show([make("Invent"), chats], "about")).toHaveLength(6);
  expect(show([make("Home")], "x")).toEqual([]);
});

test("without a text the kinds stand as they are given", () => {
  expect(show([make("Tools", "Chat"), make("a")], "", 2)).toEqual(["Tools", "a"]);
});
