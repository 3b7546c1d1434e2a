// Who called what, what is set, and what a source's calls were like; writes a report as JSON.
//
// CONSOLE_URL is a server with the token CONSOLE_TOKEN. With CONSOLE_SHOTS, a picture of each page is
// written to that folder.
import { readFile } from "node:fs/promises";
import { openBrowser, openPage, PHONE, WIDE } from "./browser.mjs";
import { expect, faults, inspect, makeAccount, makeLink, PASSWORD, report, step } from "./walk.mjs";

const { CONSOLE_URL, CONSOLE_TOKEN } = process.env;
const UI = `${CONSOLE_URL}/ui`;

const browser = await openBrowser();
const ada = await openPage(browser, CONSOLE_URL, faults);
const bob = await openPage(browser, CONSOLE_URL, faults);

/** Asks the API as the page does; the id of the call. */
const ask = (page, method, path, body) =>
  page.evaluate(
    async ([method, path, body]) => {
      const { csrf } = await (await fetch("/v1/session")).json();
      const headers = { "Content-Type": "application/json", "X-Pegboard-CSRF": csrf };
      const answer = await fetch(`/v1${path}`, { method, headers, body: body && JSON.stringify(body) });
      return { status: answer.status, body: await answer.json().catch(() => null) };
    },
    [method, path, body],
  );
const call = async (page, name, input) =>
  (await ask(page, "POST", "/execute", { name, input })).body?.metadata?.call_id;
const rows = (page) => page.locator("table.record-rows tbody tr");
let secret = "";

await step("two people, and what they call", async () => {
  await makeAccount(ada, await makeLink(CONSOLE_URL, CONSOLE_TOKEN), {
    handle: "ada",
    name: "Ada Lovelace",
    organisation: "acme",
  });
  const link = await ask(ada, "POST", "/people/links", { organisation: "acme", roles: ["editor"] });
  await makeAccount(bob, CONSOLE_URL + link.body.path, { handle: "bob", name: "Bob" });
  for (let number = 1; number <= 60; number++) await call(bob, "shop__find_invoice", { number });
  secret = await call(ada, "shop__find_invoice", { number: 99 });
  await call(ada, "shop__break_down", {});
  await call(bob, "shop__refund", { invoice: 1, amount: 2 });
});

await step("who called what", async () => {
  await ada.goto(`${UI}/`);
  await ada.getByRole("link", { name: "Audit" }).first().click();
  await rows(ada).first().waitFor();
  expect((await rows(ada).count()) === 50, `a page has ${await rows(ada).count()} calls`);
  await ada.getByRole("button", { name: "Show older" }).click();
  await ada.waitForFunction(() => document.querySelectorAll(".record-rows tbody tr").length === 63);
  await inspect(ada, "audit-calls");
  const filters = ada.getByRole("search", { name: "Filters" });
  await filters.getByLabel("Person").selectOption("Ada Lovelace (ada)");
  await ada.waitForFunction(() => document.querySelectorAll(".record-rows tbody tr").length === 2);
  await filters.getByLabel("Outcome").selectOption("Failed");
  await ada.waitForFunction(() => document.querySelectorAll(".record-rows tbody tr").length === 1);
  await ada.getByRole("link", { name: "Break down" }).click();
  const panel = ada.getByRole("complementary", { name: "Call" });
  await panel.getByRole("button", { name: "Show the cause" }).click();
  await panel.getByText("the belt has snapped").waitFor();
  await inspect(ada, "audit-call");
  await ada.reload();
  await panel.getByText("Ada Lovelace").waitFor();
  await ada.goBack();
  await panel.waitFor({ state: "detached" });
});

await step("the calls of a filter are exported", async () => {
  await ada.goto(`${UI}/audit?who=bob&tool=shop__refund`);
  await rows(ada).first().waitFor();
  const [download] = await Promise.all([
    ada.waitForEvent("download"),
    ada.getByRole("link", { name: "Export as CSV" }).click(),
  ]);
  const lines = (await readFile(await download.path(), "utf8")).trim().split("\r\n");
  expect(/^pegboard-calls-.*\.csv$/.test(download.suggestedFilename()), "it has another name");
  expect(lines.length === 2, `it has ${lines.length} lines`);
  expect(lines[1].includes("Bob") && lines[1].includes("shop__refund"), lines[1]);
});

await step("a filter that fits nothing, by keyboard and on a phone", async () => {
  await ada.goto(`${UI}/audit?until=2020-01-01`);
  await ada.getByText("No call fits these filters").waitFor();
  await ada.getByRole("link", { name: "Clear the filters" }).focus();
  await ada.keyboard.press("Enter");
  await rows(ada).first().waitFor();
  await ada.keyboard.press("j");
  await ada.keyboard.press("Enter");
  await ada.getByRole("complementary", { name: "Call" }).waitFor();
  await ada.setViewportSize(PHONE);
  await ada.getByRole("link", { name: "Back" }).click();
  await rows(ada).first().waitFor();
  await ada.setViewportSize(WIDE);
});

await step("a person sees their own calls alone", async () => {
  await bob.goto(`${UI}/audit`);
  await rows(bob).first().waitFor();
  expect((await bob.getByLabel("Person").count()) === 0, "Bob may ask for others");
  expect((await bob.getByRole("link", { name: "Changes and decisions" }).count()) === 0, "a trail");
  expect((await bob.getByText("Ada Lovelace").count()) === 0, "Bob reads of Ada");
  await bob.goto(`${UI}/audit?call=${secret}`);
  await bob.getByText("There is no such call").waitFor();
  await bob.goto(`${UI}/audit?view=trail`);
  await rows(bob).first().waitFor();
  await inspect(bob, "audit-own");
  await bob.goto(`${UI}/audit?who=ada`);
  await bob.getByText("No call fits these filters").waitFor();
});

await step("the trail, and its proof", async () => {
  await ada.goto(`${UI}/audit?view=trail`);
  await rows(ada).first().waitFor();
  await ada.getByRole("button", { name: "Verify the chain" }).click();
  await ada.getByText("The chain is whole.").waitFor();
  await inspect(ada, "audit-trail");
  await ada.getByLabel("Kind").selectOption("People and keys");
  await ada.getByRole("link", { name: "Joined" }).first().click();
  const panel = ada.getByRole("complementary", { name: "Record" });
  await panel.getByText("Hash before").waitFor();
  await inspect(ada, "audit-record");
  const [download] = await Promise.all([
    ada.waitForEvent("download"),
    ada.getByRole("link", { name: "Export the trail" }).click(),
  ]);
  const first = (await readFile(await download.path(), "utf8")).split("\n")[0];
  expect(JSON.parse(first).sequence === 1, `it begins with ${first}`);
});

await step("the figures of a source", async () => {
  await ada.goto(`${UI}/sources`);
  await ada.getByRole("main").getByRole("link", { name: "shop" }).click();
  const figures = ada.getByRole("region", { name: "Calls of the last 7 days" });
  await figures.getByText("63", { exact: true }).waitFor();
  await inspect(ada, "source");
  await ada.getByRole("link", { name: "Those that failed" }).click();
  await ada.getByRole("link", { name: "Break down" }).waitFor();
  await bob.goto(`${UI}/sources/shop`);
  const own = bob.getByRole("region", { name: "Calls of the last 7 days" });
  await own.getByText("61", { exact: true }).waitFor();
  await bob.goto(`${UI}/sources/nothing`);
  await bob.getByText("There is no such source").waitFor();
});

await step("what the server runs with", async () => {
  await ada.goto(`${UI}/settings`);
  await ada.getByRole("link", { name: "This server" }).click();
  const values = ada.getByRole("region", { name: "Values" });
  await values.getByRole("row", { name: /call_timeout/ }).waitFor();
  await ada.getByRole("region", { name: "Doors" }).getByText("With an account").first().waitFor();
  await inspect(ada, "settings-server");
  await values.getByRole("searchbox").fill("token");
  const token = values.getByRole("row", { name: /PEGBOARD_TOKEN/ }).first();
  await token.getByText("Environment").waitFor();
  expect(!(await ada.content()).includes(CONSOLE_TOKEN), "the page shows the token");
  await bob.goto(`${UI}/settings?tab=server`);
  await bob.getByRole("form", { name: "Profile" }).waitFor();
  expect((await bob.getByRole("link", { name: "This server" }).count()) === 0, "Bob sees a tab");
  expect((await ask(bob, "GET", "/settings")).status === 403, "Bob reads the settings");
});

await step("a person's own settings", async () => {
  await bob.goto(`${UI}/settings`);
  const profile = bob.getByRole("form", { name: "Profile" });
  await profile.getByLabel("Your name").fill("Bob Builder");
  await profile.getByRole("button", { name: "Save" }).click();
  await bob.locator(".account-button").getByText("Bob Builder").waitFor();
  await inspect(bob, "settings");
  const other = await openPage(browser, CONSOLE_URL, faults);
  await other.goto(`${UI}/`);
  const dialog = other.getByRole("dialog", { name: "Sign in" });
  await dialog.getByLabel("Name or e-mail").fill("bob");
  await dialog.getByLabel("Password").fill(PASSWORD);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await other.getByRole("button", { name: "Your account" }).waitFor();
  await bob.reload();
  const sessions = bob.getByRole("region", { name: "Sessions" });
  const elsewhere = sessions.getByRole("button", { name: /^Sign out the browser/ });
  await elsewhere.waitFor();
  const from = sessions.getByText("Chrome on Linux, 127.0.0.1");
  expect((await from.count()) === 2, "the sessions do not say from where");
  await inspect(bob, "settings-sessions");
  await elsewhere.click();
  await elsewhere.waitFor({ state: "detached" });
  await other.goto(`${UI}/keys`);
  await other.getByRole("dialog", { name: "Sign in" }).waitFor();
  await other.close();
});

await step("a new password", async () => {
  const form = bob.getByRole("form", { name: "Password" });
  await form.getByLabel("Current password").fill("wrong horse");
  await form.getByLabel("New password").fill("battery staple");
  await form.getByRole("button", { name: "Change the password" }).click();
  await form.getByText("The current password is wrong.").waitFor();
  expect((await bob.getByRole("dialog").count()) === 0, "a wrong password signs out");
  await form.getByLabel("Current password").fill(PASSWORD);
  await form.getByRole("button", { name: "Change the password" }).click();
  await form.getByText("Changed. Your other sessions have ended.").waitFor();
});

await step("a theme for this browser", async () => {
  const theme = bob.getByRole("region", { name: "Appearance" });
  const shown = () => bob.evaluate(() => document.documentElement.dataset.theme);
  await theme.getByLabel("Dark").check();
  expect((await shown()) === "dark", `the theme is ${await shown()}`);
  await bob.reload();
  await theme.getByLabel("Dark").waitFor();
  await bob.getByRole("region", { name: "Sessions" }).getByText("This browser").waitFor(); // it moves what is below
  expect((await shown()) === "dark", `after a reload the theme is ${await shown()}`);
  expect(await theme.getByLabel("Dark").isChecked(), "the choice is not shown");
  await theme.getByLabel("As the system").check();
  expect((await shown()) === "light", `the theme of the system is ${await shown()}`);
  await bob.emulateMedia({ colorScheme: "dark" });
  await bob.waitForFunction(() => document.documentElement.dataset.theme === "dark");
});

await browser.close();
console.log(JSON.stringify(report));
