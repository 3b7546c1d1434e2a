// One person puts documents into a base, asks it, opens a quote at its place, and deletes it all.
//
// CONSOLE_URL is a server without a token and without a model. With CONSOLE_SHOTS, a picture of each page
// is written to that folder.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { intercept, openBrowser, openPage, PHONE, WIDE } from "./browser.mjs";
import { expect, faults, inspect, report, step } from "./walk.mjs";

const { CONSOLE_URL, HANDBOOK } = process.env;
const UI = `${CONSOLE_URL}/ui`;
const LONG = "Every shelf has a number, and every record has a shelf.\n\n".repeat(8_000);

const browser = await openBrowser();
const page = await openPage(browser, CONSOLE_URL, faults);
const detail = page.getByRole("region", { name: "Shop handbook" });
const rowOf = (name) => page.locator("table.docs tr", { hasText: name });

const textOf = (name) => readFile(join(HANDBOOK, name), "utf8");

/** Lets files go over the page, as somebody who drags them there. */
async function drop(files) {
  const transfer = await page.evaluateHandle((all) => {
    const made = new DataTransfer();
    for (const [name, text, type] of all) made.items.add(new File([text], name, { type }));
    return made;
  }, files);
  for (const kind of ["dragenter", "dragover", "drop"])
    await page.dispatchEvent("main", kind, { dataTransfer: transfer });
}

await step("no knowledge yet", async () => {
  await page.goto(`${UI}/`);
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("k");
  await page.waitForURL("**/ui/knowledge");
  await page.getByRole("heading", { name: "No knowledge yet" }).waitFor();
  await inspect(page, "knowledge-none");
});

await step("a base", async () => {
  await page.getByRole("link", { name: "New base" }).click();
  const dialog = page.getByRole("dialog", { name: "New base" });
  await dialog.getByLabel("Name", { exact: true }).fill("handbook");
  await dialog.getByLabel("Title (optional)").fill("Shop handbook");
  await inspect(page, "knowledge-new");
  await dialog.getByRole("button", { name: "Make the base" }).click();
  await detail.getByText("No documents yet").waitFor();
  await inspect(page, "knowledge-empty");
});

await step("an address that cannot be taken in says why, also after a reload", async () => {
  const address = "http://169.254.169.254/latest";
  const fault = detail.getByRole("alert").filter({ hasText: `${address} could not be taken in.` });
  await detail.getByRole("button", { name: "Web address" }).click();
  await detail.getByRole("textbox", { name: "Web address" }).fill(address);
  await detail.getByRole("button", { name: "Add", exact: true }).click();
  await fault.getByText("cloud metadata address").waitFor();
  await inspect(page, "knowledge-address");
  await page.reload();
  await fault.waitFor();
  await fault.getByRole("button", { name: "Dismiss" }).click();
  await fault.waitFor({ state: "detached" });
});

await step("files are dropped, and become ready", async () => {
  await drop([
    ["returns-2023.md", await textOf("returns-2023.md"), "text/markdown"],
    ["returns-2024.md", await textOf("returns-2024.md"), "text/markdown"],
    ["letter-from-fairmont.html", await textOf("letter-from-fairmont.html"), "text/html"],
    ["shop.exe", "MZ", "application/octet-stream"],
  ]);
  await page.getByText("No text comes out of shop.exe").waitFor();
  await rowOf("returns-2023").getByText("Ready").waitFor();
  await rowOf("returns-2024").getByText("Ready").waitFor();
});

await step("a new version says what it would change before it is taken in", async () => {
  const text = await textOf("returns-2024.md");
  const upload = page.locator("table.docs tr", { hasText: "returns-2024.md" }).filter({
    hasText: "New version",
  });
  const letGo = () => drop([["returns-2024.md", `${text}\n\nGift cards last three years.\n`, ""]]);
  await letGo();
  await upload.getByText("1 passage changed").waitFor();
  await upload.getByRole("link", { name: "See what changes" }).click();
  await page.waitForURL("**/knowledge/*?*replace=*");
  const dialog = page.getByRole("dialog", { name: "Replace" });
  await dialog.getByText("1 added").waitFor();
  await dialog.getByRole("button", { name: "Keep the old one" }).click();
  await upload.waitFor({ state: "detached" });
  await letGo();
  await upload.getByRole("link", { name: "See what changes" }).click();
  await inspect(page, "knowledge-replace");
  await dialog.getByRole("button", { name: "Replace" }).click();
  await dialog.waitFor({ state: "detached" });
  await upload.waitFor({ state: "detached" });
  await rowOf("returns-2024").getByText("Ready").waitFor();
  await rowOf("returns-2024").getByRole("button", { name: /^More for/ }).click();
  await page.getByRole("link", { name: "What changed" }).waitFor();
  await page.keyboard.press("Escape");
});

await step("what waits for a decision is there after a reload", async () => {
  const text = await textOf("returns-2024.md");
  const version = (end) => [["returns-2024.md", `${text}\n\n${end}\n`, ""]];
  const waiting = rowOf("Waits for your decision");
  const listUploads = () =>
    page.evaluate(async () => (await (await fetch("/v1/uploads")).json()).uploads);
  for (const [end, decision] of [
    ["Sleeves are not returned.", "Keep the old one"],
    ["Needles are not returned.", "Replace"],
  ]) {
    await drop(version(end));
    await rowOf("New version").getByText("1 passage changed").waitFor();
    const [{ path, expires_at }] = await listUploads();
    expect(path === "returns-2024.md", `the upload has the path ${path}`);
    expect(expires_at > Date.now() / 1000 + 86_000, `it expires at ${expires_at}`);
    await page.reload();
    await waiting.getByText(/^Deleted on .* unless you decide$/).waitFor();
    await waiting.getByRole("link", { name: "See what changes" }).click();
    const dialog = page.getByRole("dialog", { name: "Replace" });
    await dialog.getByText("1 passage changed").waitFor();
    await page.reload();
    await dialog.getByText("1 passage changed").waitFor();
    if (decision === "Replace") await inspect(page, "knowledge-waits");
    await dialog.getByRole("button", { name: decision }).click();
    await dialog.waitFor({ state: "detached" });
    await waiting.waitFor({ state: "detached" });
    await page.waitForFunction(
      async () => (await (await fetch("/v1/uploads")).json()).uploads.length === 0,
    );
    await rowOf("returns-2024").getByText("Ready").waitFor();
  }
});

await step("an upload that is stopped is deleted on the server", async () => {
  const letGo = await intercept(page, "**/v1/uploads/*", (route) =>
    route.request().method() === "PATCH" ? undefined : route.continue(),
  );
  const large = Buffer.from("Every shelf has a number.\n\n".repeat(20_000));
  await page
    .getByTestId("files")
    .setInputFiles([{ name: "stopped.txt", mimeType: "text/plain", buffer: large }]);
  const row = rowOf("stopped.txt");
  await row.getByText("of 540").waitFor();
  const [gone] = await Promise.all([
    page.waitForResponse((answer) => answer.request().method() === "DELETE"),
    row.getByRole("button", { name: "Stop" }).click(),
  ]);
  expect(gone.status() === 204, `the server answers ${gone.status()}`);
  letGo();
  await page.reload();
  await rowOf("returns-2024").waitFor();
  const left = await page.evaluate(async () => (await (await fetch("/v1/uploads")).json()).uploads);
  expect(left.length === 0, `uploads are left: ${JSON.stringify(left)}`);
});

await step("several new versions are taken in at once", async () => {
  const texts = await Promise.all(["returns-2023.md", "returns-2024.md"].map(textOf));
  await drop([
    ["returns-2023.md", `${texts[0]}\n\nRecords are counted in May.\n`, ""],
    ["returns-2024.md", `${texts[1]}\n\nRecords are counted in June.\n`, ""],
  ]);
  await page.getByText("2 files would replace documents.").waitFor();
  await inspect(page, "knowledge-replace-all");
  await page.getByRole("button", { name: "Replace all 2" }).click();
  await page.getByText("would replace documents").waitFor({ state: "detached" });
  await rowOf("returns-2023").getByText("Ready").waitFor();
  await rowOf("returns-2024").getByText("Ready").waitFor();
});

await step("a long file is uploaded in parts", async () => {
  const [chooser] = await Promise.all([
    page.waitForEvent("filechooser"),
    page.getByRole("button", { name: "Choose files" }).click(),
  ]);
  await chooser.setFiles([
    { name: "shelves.txt", mimeType: "text/plain", buffer: Buffer.from(LONG) },
  ]);
  await rowOf("shelves").getByText("Ready").waitFor({ timeout: 60_000 });
});

await step("what gives orders is held back until somebody decides", async () => {
  const row = rowOf("letter-from-fairmont");
  await row.getByText("Held back").waitFor();
  await inspect(page, "knowledge");
  await row.getByRole("link", { name: "Review" }).click();
  const dialog = page.getByRole("dialog", { name: "Held back" });
  await dialog.getByRole("button", { name: /Leave/ }).waitFor();
  await inspect(page, "knowledge-review");
  await dialog.getByRole("button", { name: /Leave/ }).click();
  await dialog.waitFor({ state: "detached" });
  await row.getByText("Ready").waitFor();
});

await step("a question names its quotes", async () => {
  await page.getByRole("link", { name: "Ask", exact: true }).click();
  await page.getByText("You have not asked yet").waitFor();
  const form = page.getByRole("form", { name: "Question" });
  await form.getByRole("textbox").fill("How many days does a customer have to return a record?");
  await form.getByRole("button", { name: "Ask" }).click();
  await page.waitForURL("**/knowledge/*/ask/*");
  await page.getByRole("region", { name: "Evidence" }).locator("mark").first().waitFor();
  await page.getByRole("heading", { name: /Evidence that disagrees|Enough evidence/ }).waitFor();
  await inspect(page, "ask");
  await page.reload();
  await page.getByRole("region", { name: "Evidence" }).locator("mark").first().waitFor();
});

await step("a quote opens at its place", async () => {
  const quote = page.getByRole("region", { name: "Evidence" }).locator("li").first();
  const said = await quote.locator("mark").first().innerText();
  await quote.getByRole("link", { name: /^Open/ }).click();
  await page.waitForURL("**/knowledge/*/*?*span=*");
  const mark = page.locator("mark.quote").first();
  await mark.waitFor();
  expect((await mark.innerText()) === said, `the mark is ${await mark.innerText()}, not ${said}`);
  await page.locator("mark.quote:focus").waitFor();
  await inspect(page, "document");
  await page.getByRole("searchbox", { name: "Find on this page" }).fill("record");
  await page.locator("mark.hit").first().waitFor();
});

await step("a question that nothing answers", async () => {
  await page.goBack();
  await page.getByRole("link", { name: "New question" }).click();
  const form = page.getByRole("form", { name: "Question" });
  await form.getByRole("textbox").fill("Who won the chess championship of 1972?");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Not enough evidence" }).waitFor();
  await page.getByRole("region", { name: "What was looked at" }).waitFor();
  await inspect(page, "ask-none");
});

await step("a document is deleted for good", async () => {
  await page.goto(`${UI}/knowledge`);
  await page.getByRole("link", { name: /Shop handbook/ }).click();
  await rowOf("returns-2023").getByRole("button", { name: /^More for/ }).click();
  await page.getByRole("link", { name: "Delete for good" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete for good" });
  await dialog.getByText("Their words and their vectors").waitFor();
  await inspect(page, "knowledge-delete");
  await dialog.getByRole("button", { name: "Delete for good" }).click();
  await dialog.waitFor({ state: "detached" });
  await rowOf("returns-2023").waitFor({ state: "detached" });
});

await step("a base has a model of its own, or none", async () => {
  await page.getByRole("main").getByRole("link", { name: "Settings" }).click();
  const form = page.getByRole("form", { name: "How it is searched" });
  await form.getByRole("radio", { name: /^With another model/ }).check();
  await form.getByLabel("Name of the embedding model").fill("tiny");
  await inspect(page, "knowledge-settings");
  await form.getByRole("button", { name: "Save" }).click();
  await form.getByText("This board has no embedding model 'tiny'").waitFor();
  await form.getByRole("radio", { name: /^By words only/ }).check();
  await Promise.all([
    page.waitForResponse((answer) => answer.request().method() === "PATCH"),
    form.getByRole("button", { name: "Save" }).click(),
  ]);
  await page.reload();
  await form.getByRole("radio", { name: /^By words only/, checked: true }).waitFor();
  expect(await form.getByRole("button", { name: "Save" }).isDisabled(), "nothing is left to save");
});

await step("a base asks for its name", async () => {
  await page.getByRole("main").getByRole("link", { name: "Settings" }).click();
  await page.getByRole("link", { name: "Delete for good" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete for good" });
  const button = dialog.getByRole("button", { name: "Delete for good" });
  await dialog.getByText("with the text taken from").waitFor();
  expect(await button.isDisabled(), "it is deleted without its name");
  await dialog.getByLabel("Type handbook to delete the base").fill("handbook");
  await button.click();
  await page.waitForURL("**/ui/knowledge");
  await page.getByRole("heading", { name: "No knowledge yet" }).waitFor();
});

await step("what is not there", async () => {
  await page.goto(`${UI}/knowledge/nothing`);
  await page.getByText("There is no such base").waitFor();
  await page.goto(`${UI}/knowledge/nothing/nothing`);
  await page.getByText("There is no such document").waitFor();
  await page.setViewportSize(PHONE);
  await page.getByRole("button", { name: "Menu" }).click();
  await page.locator("#menu-phone").getByRole("link", { name: "Knowledge" }).waitFor();
  await page.setViewportSize(WIDE);
});

await step("what a skill says", async () => {
  await page.goto(`${UI}/skills`);
  await page.getByRole("link", { name: /Returns/ }).click();
  await page.getByText("Find the order first.").waitFor();
  await page.getByRole("link", { name: "std__calculator" }).waitFor();
  await inspect(page, "skill");
  await page.getByRole("link", { name: "damage.md" }).click();
  await page.getByText("Ask for a picture.").waitFor();
});

await step("a skill is dropped, read, edited and deleted", async () => {
  await page.goto(`${UI}/skills`);
  await page.getByRole("link", { name: "Add a skill" }).click();
  await page.getByRole("form", { name: "Add a skill" }).waitFor();
  const text = "---\nname: letters\ndescription: How to write letters.\n---\n\nBegin with the date.\n";
  await drop([
    ["SKILL.md", text, "text/markdown"],
    ["closing.md", "Yours, Ada", "text/markdown"],
  ]);
  await page.getByText("closing.md").waitFor();
  await inspect(page, "new-skill");
  await page.getByRole("button", { name: "Add a skill" }).click();
  await page.waitForURL("**/ui/skills/letters__read");
  await page.getByText("Begin with the date.").waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  const field = page.getByRole("textbox", { name: "SKILL.md" });
  await field.fill(text.replace("the date", "a greeting"));
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Begin with a greeting.").waitFor();
  await inspect(page, "own-skill");
  await page.getByRole("button", { name: "Delete it" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.waitForURL("**/ui/skills");
  await page.getByRole("link", { name: /Letters/ }).waitFor({ state: "detached" });
});

await browser.close();
console.log(JSON.stringify(report));
