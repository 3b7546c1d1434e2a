// One visit to the console, from the first page to a decided refund; writes a report as JSON.
//
// CONSOLE_URL is a server without a token, SIGNED_URL one with the token CONSOLE_TOKEN behind a path.
// With CONSOLE_SHOTS, a picture of each page in both themes and widths is written to that folder.
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { countBytes, openBrowser, openPage } from "./browser.mjs";
import { expect, faults, inspect, report, step } from "./walk.mjs";

const { CONSOLE_URL, SIGNED_URL, CONSOLE_TOKEN } = process.env;
const CSV = "a,b\n1,2\n";

const control = createInterface({ input: process.stdin });

/** Has the test kill the server and start another one on the same data; waits until it answers. */
async function restartServer() {
  console.log("restart");
  await control.question("");
}

const browser = await openBrowser();
const page = await openPage(browser, CONSOLE_URL, faults);
const answer = page.getByRole("article", { name: "Answer" });
const approval = page.getByRole("region", { name: "Approval" });

await step("home", async () => {
  const bytes = await countBytes(page);
  await page.goto(`${CONSOLE_URL}/`, { waitUntil: "networkidle" });
  expect(page.url() === `${CONSOLE_URL}/ui/`, `it is at ${page.url()}`);
  report.bytes = { ...bytes };
  await page.getByRole("heading", { name: "What should the board do?", level: 1 }).waitFor();
  await page.getByText("courier").first().waitFor();
  const account = page.getByRole("button", { name: "Your account" });
  expect((await account.count()) === 0, "one person has an account menu");
  await inspect(page, "home");
});

await step("ask", async () => {
  await page.getByRole("textbox", { name: "Ask the board" }).fill("Refund invoice 98");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/ui/chat/*");
  await page.getByRole("heading", { name: "Refund invoice 98", level: 1 }).waitFor();
  const call = answer.locator("details", { hasText: "shop__find_invoice" });
  await call.waitFor();
  await approval.waitFor();
  await call.locator("summary").click();
  await call.getByText("Ada Lovelace").waitFor();
  await inspect(page, "chat-approval");
});

await step("reload while it waits", async () => {
  await page.reload();
  await approval.getByRole("heading", { name: /refund/i }).waitFor();
  await answer.locator("details", { hasText: "shop__find_invoice" }).waitFor();
});

await step("a killed server", async () => {
  const lost = page.getByText("Connection lost").waitFor();
  await restartServer();
  await lost;
  // The console tries again after up to 30 s, where the server took long to start.
  await page.getByText("Connection lost").waitFor({ state: "hidden", timeout: 60_000 });
  await approval.getByRole("heading", { name: /refund/i }).waitFor();
});

await step("the approval on its own page", async () => {
  const other = await page.context().newPage();
  await other.goto(`${CONSOLE_URL}/ui/approvals`);
  await other
    .getByRole("link", { name: /refund/i })
    .first()
    .click();
  await other.getByRole("button", { name: "Approve" }).waitFor();
  await inspect(other, "approvals");
  await other.close();
});

await step("approve", async () => {
  await approval.getByRole("button", { name: "Approve", exact: true }).click();
  await answer.getByText("was refunded").waitFor();
  await answer.getByText(/Approved by/).waitFor();
  await page.getByRole("button", { name: "Send" }).waitFor();
  await inspect(page, "chat-answer");
});

await step("text from outside is text", async () => {
  await answer.getByText("<script>document.title = 'taken'</script>").waitFor();
  expect((await answer.locator("script, iframe, img").count()) === 0, "markup became elements");
  expect((await page.title()).includes("Refund"), `the title is ${await page.title()}`);
  const link = answer.getByRole("link", { name: /terms/ });
  expect(/noopener/.test((await link.getAttribute("rel")) ?? ""), "a link has no rel=noopener");
  const bad = answer.locator('a[href^="javascript:"]');
  expect((await bad.count()) === 0, "a link runs a script");
});

await step("a reload draws the same picture", async () => {
  const before = await answer.innerText();
  await page.reload();
  await answer.getByText("was refunded").waitFor();
  await answer.getByText(/Approved by/).waitFor();
  const after = await answer.innerText();
  expect(after === before, `before: ${before}\nafter: ${after}`);
});

await step("approve with other arguments", async () => {
  await page.goto(`${CONSOLE_URL}/ui/chat`);
  await page.getByRole("textbox", { name: "Ask the board" }).fill("Refund invoice 99");
  await page.getByRole("button", { name: "Send" }).click();
  await approval.getByRole("button", { name: "Edit" }).click();
  await approval.getByLabel("amount").fill("1.99");
  await inspect(page, "chat-edit");
  await approval.getByRole("button", { name: "Approve with 1.99" }).click();
  await answer.getByText("Less was paid back").waitFor();
});

await step("withdraw a message, and stop", async () => {
  await page.goto(`${CONSOLE_URL}/ui/chat`);
  await page.getByRole("textbox", { name: "Ask the board" }).fill("Take your time");
  await page.keyboard.press("Enter");
  await answer.getByText("first shelf, 1 of 3").waitFor();
  await answer.getByText(/Try 2 of 3, after: did not answer; next in \d/).waitFor();
  const field = page.getByRole("region", { name: "Conversation" }).getByRole("textbox").last();
  await field.fill("And then?");
  await page.keyboard.press("Enter");
  await page.getByText("Waits for the answer in progress").waitFor();
  await inspect(page, "chat-working");
  await page.getByRole("button", { name: "Withdraw" }).click();
  await page.getByText("Waits for the answer in progress").waitFor({ state: "hidden" });
  await restartServer();
  await page.reload();
  await page.getByRole("button", { name: "Stop" }).click();
  await answer.getByText("Stopped.").waitFor();
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "hidden" });
});

await step("files come with a message, and tools write others", async () => {
  await page.goto(`${CONSOLE_URL}/ui/chat`);
  const [chooser] = await Promise.all([
    page.waitForEvent("filechooser"),
    page.getByRole("button", { name: "Attach a file" }).click(),
  ]);
  await chooser.setFiles([{ name: "report.csv", mimeType: "text/csv", buffer: Buffer.from(CSV) }]);
  await page.getByRole("combobox", { name: "Model" }).selectOption("Large");
  await page.getByRole("textbox", { name: "Ask the board" }).fill("Read this report");
  await page.keyboard.press("Enter");
  await answer.getByText("Summed up.").waitFor();
  const chip = page.getByRole("list", { name: "Files of this message" }).getByRole("link");
  expect((await chip.innerText()).includes("report.csv"), "the message shows no file");
  await page.getByRole("button", { name: "Files 3" }).click();
  const list = page.getByRole("list", { name: "Files of this conversation" });
  await list.getByText("notes/sum.txt").waitFor();
  await inspect(page, "chat-files");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    list.getByRole("link", { name: "report.csv" }).click(),
  ]);
  expect(download.suggestedFilename() === "report.csv", `it is ${download.suggestedFilename()}`);
  expect((await readFile(await download.path(), "utf8")) === CSV, "the file is another one");
  await page.reload();
  await page.locator('select[aria-label="Model"]:has(option[value="large"]:checked)').waitFor();
});

await step("a page that a tool wrote, apart from the console", async () => {
  const title = await page.title();
  await page.getByRole("button", { name: "Files 3" }).click();
  await page.getByRole("link", { name: "View notes/chart.html" }).click();
  const frame = page.frameLocator("iframe");
  await frame.getByText("Drawn by a script that reaches nothing, nothing, nothing").waitFor();
  expect((await page.title()) === title, `the title is ${await page.title()}`);
  await inspect(page, "chat-artifact");
  await page.reload();
  await frame.getByRole("heading", { name: "Sums" }).waitFor();
  await page.getByRole("button", { name: "Close" }).click();
  await page.locator("iframe").waitFor({ state: "detached" });
});

await step("by keyboard", async () => {
  await page.goto(`${CONSOLE_URL}/ui/`);
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("g");
  await page.keyboard.press("t");
  await page.waitForURL("**/ui/tools");
  const heading = page.locator("h1:focus");
  await heading.waitFor();
  expect((await heading.innerText()) === "Tools", `the focus is on ${await heading.innerText()}`);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("sources");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/ui/sources");
});

await step("try a tool", async () => {
  await page.goto(`${CONSOLE_URL}/ui/tools`);
  await page.getByRole("searchbox", { name: "Find a tool" }).fill("invoice");
  await page
    .getByRole("link", { name: /find_invoice|Find an invoice/i })
    .first()
    .click();
  const form = page.getByRole("form", { name: "Arguments" });
  await form.getByRole("button", { name: /Run/ }).click();
  await form
    .getByText(/required|missing/i)
    .first()
    .waitFor();
  await form.getByLabel("number").fill("98");
  await form.getByRole("button", { name: /Run/ }).click();
  await page.getByRole("region", { name: "Result" }).getByText("Ada Lovelace").waitFor();
  await inspect(page, "tools");
  await page.getByRole("link", { name: "Schema" }).click();
  await page.getByRole("heading", { name: "Arguments" }).waitFor();
  const chosen = await page.locator(".tabs [aria-current]").allInnerTexts();
  expect(chosen.join() === "Schema", `the chosen tabs are ${chosen.join()}`);
});

await step("runs", async () => {
  await page.goto(`${CONSOLE_URL}/ui/runs`);
  await page
    .getByRole("link", { name: /Refund invoice 98/ })
    .first()
    .waitFor();
  await inspect(page, "runs");
  await page
    .getByRole("link", { name: /Refund invoice 98/ })
    .first()
    .click();
  await page.waitForURL("**/ui/runs/*");
  await page.getByRole("region", { name: "Timeline" }).waitFor();
  await inspect(page, "run");
});

await step("a run that another process took over", async () => {
  await page.goto(`${CONSOLE_URL}/ui/runs`);
  await page
    .getByRole("link", { name: /Take your time/ })
    .first()
    .click();
  const restarts = page.getByRole("list", { name: "Restarts" });
  await restarts.getByText("The server process was lost").waitFor();
  await inspect(page, "run-taken-over");
});

await step("sources", async () => {
  await page.goto(`${CONSOLE_URL}/ui/sources`);
  await page.getByText("courier").first().waitFor();
  await inspect(page, "sources");
});

await step("a dialog of a menu", async () => {
  await page.goto(`${CONSOLE_URL}/ui/chat`);
  await page.getByRole("link", { name: "Refund invoice 99" }).click();
  const more = page.getByRole("button", { name: "More" });
  await more.focus();
  for (const key of ["Enter", "Tab", "Enter"]) await page.keyboard.press(key);
  const dialog = page.getByRole("dialog", { name: "Rename the conversation" });
  await dialog.waitFor();
  expect((await page.locator(":popover-open").count()) === 0, "the menu stays open");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  const isBack = await more.evaluate((button) => button === document.activeElement);
  expect(isBack, "the focus is not back at the menu");
  await page.getByRole("button", { name: "Change the message" }).click();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Change the message" }).waitFor();
});

await step("an unknown page", async () => {
  await page.goto(`${CONSOLE_URL}/ui/no/such/page`);
  await page.getByText("There is no such page").waitFor();
});

await step("a page that cannot be fetched while the server is away", async () => {
  const away = await openPage(browser, CONSOLE_URL, []);
  await away.goto(`${CONSOLE_URL}/ui/`);
  await away.getByText("courier").first().waitFor();
  await away.context().setOffline(true);
  await away.getByRole("link", { name: "Settings" }).click();
  await away.getByRole("heading", { name: "The page could not be shown" }).waitFor();
  await away.getByText("The server does not answer").waitFor();
  await away.getByRole("link", { name: "Home" }).waitFor();
  await away.context().setOffline(false);
  await away.getByRole("button", { name: "Try again" }).click();
  await away.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
  await away.context().close();
});

await step("sign in, behind a path", async () => {
  const guest = await openPage(browser, SIGNED_URL, faults);
  // Nothing of the board is drawn or asked for before the page knows who is there.
  const asked = [];
  guest.on("request", (request) => asked.push(new URL(request.url()).pathname));
  let letAnswer;
  const isTyped = new Promise((done) => (letAnswer = done));
  await guest.route("**/v1/session", (route) => isTyped.then(() => route.continue()));
  await guest.goto(`${SIGNED_URL}/ui/tools`);
  const dialog = guest.getByRole("dialog", { name: "Sign in" });
  await guest.locator("main[aria-busy]").waitFor({ state: "attached" });
  expect((await guest.locator(".side, .bar").count()) === 0, "a stranger sees the frame");
  letAnswer();
  await guest.locator("main.plain").waitFor();
  await dialog.getByLabel("Token").fill("wrong");
  const others = asked.filter((path) => path.includes("/v1/") && !path.endsWith("/session"));
  expect(others.length === 0, `a stranger's page asked for ${others.join()}`);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.getByText("not valid").waitFor();
  await inspect(guest, "sign-in");
  await dialog.getByLabel("Token").fill(CONSOLE_TOKEN);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await guest
    .getByRole("link", { name: /find_invoice|Find an invoice/i })
    .first()
    .click();
  const form = guest.getByRole("form", { name: "Arguments" });
  await form.getByLabel("number").fill("98");
  await form.getByRole("button", { name: /Run/ }).click();
  await guest.getByRole("region", { name: "Result" }).getByText("Ada Lovelace").waitFor();
  await guest.reload();
  await guest.getByRole("form", { name: "Arguments" }).waitFor();
  const stored = await guest.evaluate(() => JSON.stringify([localStorage, sessionStorage]));
  expect(!stored.includes(CONSOLE_TOKEN), "the token is in the browser's storage");
  expect((await guest.evaluate(() => document.cookie)) === "", "a script can read the cookie");
});

await step("the first account, and signing in with it", async () => {
  const made = await fetch(`${SIGNED_URL}/v1/people/links`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${CONSOLE_TOKEN}`,
      "Content-Type": "application/json",
    },
    body: "{}",
  });
  const link = (await made.json()).url;
  const guest = await openPage(browser, SIGNED_URL, faults);
  await guest.goto(link);
  const form = guest.getByRole("form", { name: "Make your account" });
  await form.getByLabel("Handle").fill("ada");
  expect(!guest.url().includes("link="), "the link stays in the address");
  await inspect(guest, "join");
  await form.getByLabel("Your name").fill("Ada Lovelace");
  await form.getByLabel("Organisation").fill("acme");
  await form.getByLabel("Password").fill("short");
  await form.getByRole("button", { name: "Make the account" }).click();
  await form.getByText(/10/).last().waitFor();
  await form.getByLabel("Password").fill("correct horse");
  await form.getByRole("button", { name: "Make the account" }).click();
  await guest.getByRole("button", { name: "Your account" }).waitFor();
  await guest.context().clearCookies();
  await guest.goto(`${SIGNED_URL}/ui/tools`);
  const dialog = guest.getByRole("dialog", { name: "Sign in" });
  await dialog.getByLabel("Name or e-mail").fill("ada");
  await dialog.getByLabel("Password").fill("wrong horse");
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.getByText("The name or the password is wrong.").waitFor();
  await inspect(guest, "sign-in-account");
  await dialog.getByLabel("Password").fill("correct horse");
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await guest
    .getByRole("link", { name: /find_invoice|Find an invoice/i })
    .first()
    .waitFor();
});

await browser.close();
control.close();
console.log(JSON.stringify(report));
