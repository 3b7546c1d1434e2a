// A tool asks the person of a chat, who answers in the card: at once, after a reload, and not at all.
//
// CONSOLE_URL is a server without a token whose model is a script, and whose embedding model is down. With
// CONSOLE_SHOTS, a picture of each page is written to that folder.
import { openBrowser, openPage } from "./browser.mjs";
import { expect, faults, inspect, report, step } from "./walk.mjs";

const { CONSOLE_URL } = process.env;
const UI = `${CONSOLE_URL}/ui`;

const browser = await openBrowser();
const page = await openPage(browser, CONSOLE_URL, faults);
const card = page.getByRole("region", { name: "A question of a tool" });
const answers = page.getByRole("article", { name: "Answer" });

async function ask(text) {
  await page.goto(`${UI}/chat`);
  await page.getByRole("textbox", { name: "Ask the board" }).fill(text);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/ui/chat/*");
}

await step("a tool asks in a chat", async () => {
  await ask("A shirt, please.");
  await card.getByText("Which size?").waitFor();
  const said = await card.innerText();
  expect(said.includes("The source shop asks"), `it does not say who asks: ${said}`);
  expect(said.includes("shop__order"), `it does not name the tool: ${said}`);
  await inspect(page, "question");
});

await step("an answer that does not fit is refused in the card", async () => {
  await card.getByLabel(/size/i).fill("-3");
  await card.getByRole("button", { name: "Answer" }).click();
  await card.getByText(/size/).first().waitFor();
  expect((await card.count()) === 1, "the question is gone");
});

await step("a reload while it waits", async () => {
  await page.reload();
  await card.getByText("Which size?").waitFor();
});

await step("the answer goes on", async () => {
  await card.getByLabel(/size/i).fill("7");
  await card.getByRole("button", { name: "Answer" }).click();
  await answers.last().getByText("Ordered in size 7.").waitFor();
  await answers.last().getByText("You answered").waitFor();
  expect((await card.count()) === 0, "the question is still open");
});

await step("it is settled after a reload, too", async () => {
  await page.reload();
  await answers.last().getByText("Ordered in size 7.").waitFor();
  await answers.last().getByText("You answered").waitFor();
  await inspect(page, "question-settled");
});

await step("declined from another tab", async () => {
  await ask("Another one.");
  await card.getByText("Which size?").waitFor();
  const other = await page.context().newPage();
  await other.goto(page.url());
  const there = other.getByRole("region", { name: "A question of a tool" });
  await there.getByRole("button", { name: "Decline" }).click();
  await answers.last().getByText("You declined").waitFor();
  await answers.last().getByText("Not ordered.").waitFor();
  await other.close();
});

await step("tools are found by words where the embedding model is down", async () => {
  await page.goto(`${UI}/tools`);
  await page.getByRole("searchbox", { name: "Find a tool" }).fill("order a shirt");
  await page.getByRole("status").getByText("Found by words only").waitFor();
  await page.getByRole("link", { name: /order/i }).first().waitFor();
  await inspect(page, "tools-by-words");
});

await browser.close();
console.log(JSON.stringify(report));
