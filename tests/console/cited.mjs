// One person drops a folder, goes on with an interrupted upload, and follows a citation of a chat to its
// place; then the document changes, and is deleted.
//
// CONSOLE_URL is a server without a token whose model is a script. FOLDER has the documents. With
// CONSOLE_SHOTS, a picture of each page is written to that folder.
import { intercept, openBrowser, openPage } from "./browser.mjs";
import { expect, faults, inspect, report, step } from "./walk.mjs";

const { CONSOLE_URL, FOLDER } = process.env;
const UI = `${CONSOLE_URL}/ui`;
const PART = 4 * 1024 * 1024;
// Its text is short, so that taking it in costs little; two parts are needed to send it.
const SHELVES = `<p>Shelves are numbered from the left.</p>${" ".repeat(PART + 100_000)}`;
const CHANGED = `# Returns

Records can be returned within 60 days of purchase with the receipt.

We pay for the parcel.
`;

const browser = await openBrowser();
const page = await openPage(browser, CONSOLE_URL, faults);
const rowOf = (name) => page.locator("table.docs tr", { hasText: name });
const answer = page.getByRole("article", { name: "Answer" });

/** Lets what a path of this machine names go over the page; a folder stays one. */
async function drop(path) {
  const session = await page.context().newCDPSession(page);
  const { x, y, width } = await page.locator("main").boundingBox();
  const at = { x: Math.round(x + width / 2), y: Math.round(y + 200) };
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"])
    await session.send("Input.dispatchDragEvent", { type, ...at, data });
}

async function choose(button, files) {
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), button.click()]);
  await chooser.setFiles(files);
}

const shelves = (text) => ({
  name: "shelves.html",
  mimeType: "text/html",
  buffer: Buffer.from(text),
});

await step("a dropped folder keeps its paths", async () => {
  await page.goto(`${UI}/knowledge?new=yes`);
  const dialog = page.getByRole("dialog", { name: "New base" });
  await dialog.getByLabel("Name", { exact: true }).fill("handbook");
  await dialog.getByRole("button", { name: "Make the base" }).click();
  await page.getByText("No documents yet").waitFor();
  await drop(FOLDER);
  await rowOf("Returns").getByText("Ready").waitFor();
  await rowOf("Opening hours").getByText("Ready").waitFor();
  const paths = await page.evaluate(async () => {
    const { bases } = await (await fetch("/v1/knowledge")).json();
    const { documents } = await (await fetch(`/v1/knowledge/${bases[0].id}/documents`)).json();
    return documents.map((item) => item.path).sort();
  });
  const wanted = "shop/returns.md shop/rules/hours.md";
  expect(paths.join(" ") === wanted, `the paths are ${paths}`);
});

await step("an upload that a reload interrupts goes on where it was", async () => {
  const letGo = await intercept(page, "**/v1/uploads/*", (route) => {
    const offset = route.request().headers()["upload-offset"];
    return offset === undefined || offset === "0" ? route.continue() : undefined;
  });
  await choose(page.getByRole("button", { name: "Choose files" }), shelves(SHELVES));
  await rowOf("shelves").getByText("4.2 MB of 4.3 MB").waitFor();
  letGo();
  await page.reload();
  const row = rowOf("shelves");
  await row.getByText("Choose shelves.html again to go on from 4.2 MB.").waitFor();
  await inspect(page, "upload-interrupted");
  const again = row.getByRole("button", { name: "Choose the file" });
  await choose(again, shelves("<p>Another file.</p>"));
  await row.getByText("This is another file").waitFor();
  const sent = page.waitForRequest((item) => item.method() === "PATCH");
  await choose(again, shelves(SHELVES));
  const offset = await (await sent).headerValue("upload-offset");
  expect(offset === String(PART), `it went on from ${offset}`);
  await row.getByText("Ready").waitFor();
});

await step("a citation of a chat opens the document at the quote", async () => {
  await page.goto(`${UI}/chat`);
  await page.getByRole("textbox", { name: "Ask the board" }).fill("How long can I return it?");
  await page.keyboard.press("Enter");
  const number = answer.getByRole("link", { name: /^Source 1: Returns/ });
  await number.click();
  const panel = page.getByRole("complementary", { name: "Source 1" });
  await panel.locator("mark.quote").first().waitFor();
  const quote = (await panel.locator("mark.quote").allInnerTexts()).join(" ");
  expect(quote.includes("within 30 days"), `the quote is ${quote}`);
  await inspect(page, "chat-cited");
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
  expect(
    await number.evaluate((link) => link === document.activeElement),
    "the focus is lost",
  );
  await number.click();
  await panel.getByRole("link", { name: "Open the document" }).click();
  await page.waitForURL("**/knowledge/*/*?*span=*");
  const mark = page.locator("mark.quote:focus");
  await mark.waitFor();
  const shown = (await page.locator("mark.quote").allInnerTexts()).join(" ");
  expect(shown === quote, `the mark is ${shown}`);
});

await step("a document knows the answers that cite it", async () => {
  const cited = page.getByRole("region", { name: "Cited in 1 answer" });
  await cited.getByRole("link", { name: /How long can I return it/ }).waitFor();
  await inspect(page, "document-cited");
  await cited.getByRole("link").click();
  await page.getByRole("complementary", { name: "Source 1" }).waitFor();
  await page.goBack();
  await cited.waitFor();
});

await step("what changed is shown, counts first", async () => {
  const address = page.url();
  const [, base, id] = /knowledge\/([^/]+)\/([^/?]+)/.exec(address);
  await page.evaluate(
    async ([place, text]) => {
      const { csrf } = await (await fetch("/v1/session")).json();
      const file = { name: "returns.md", data: btoa(text) };
      await fetch(place, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Pegboard-CSRF": csrf ?? "" },
        body: JSON.stringify({ file, path: "shop/returns.md" }),
      });
    },
    [`/v1/knowledge/${base}/documents`, CHANGED],
  );
  await page.goto(`${UI}/knowledge/${base}`);
  await rowOf("Returns").getByText("Ready").waitFor();
  await page.waitForFunction(
    async (place) => (await (await fetch(place)).json()).revision === 2,
    `/v1/knowledge/${base}/documents/${id}`,
  );
  await page.reload();
  await rowOf("Returns").getByRole("button", { name: /^More for/ }).click();
  await page.getByRole("link", { name: "What changed" }).click();
  const changes = page.getByRole("region", { name: "What changed" });
  await changes.getByRole("heading", { name: /passages? changed/ }).waitFor();
  const old = await changes.locator("del").allInnerTexts();
  const now = await changes.locator("ins").allInnerTexts();
  expect(old.join("|").trim() === "30", `struck out is ${old}`);
  expect(now.map((text) => text.trim()).join("|") === "60|We pay for the parcel.", `new is ${now}`);
  await inspect(page, "document-changes");
  await page.goto(address);
  await page.getByText("This quote is from an earlier text").waitFor();
  await page.locator("mark.quote:focus").waitFor();
});

await step("what is said of a document", async () => {
  await page.getByRole("main").getByRole("link", { name: "Settings", exact: true }).click();
  const form = page.getByRole("form", { name: "Settings" });
  await form.getByLabel("Title").fill("Returns of records");
  await form.getByLabel("Edition (optional)").fill("2026-10-14");
  await inspect(page, "document-settings");
  await form.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "Returns of records", level: 1 }).waitFor();
  await page.getByText("Edition 2026-10-14").waitFor();
});

await step("a deletion names the answers that it touches", async () => {
  await page.getByRole("button", { name: /^More for/ }).click();
  await page.getByRole("link", { name: "Delete for good" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete for good" });
  await dialog.getByRole("link", { name: /How long can I return it/ }).waitFor();
  await inspect(page, "document-delete");
  await dialog.getByRole("button", { name: "Delete for good" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.goto(`${UI}/chat`);
  await page
    .getByRole("link", { name: /How long can I return it/ })
    .first()
    .click();
  await answer.getByText("A record [removed: the document was deleted]").waitFor();
  await answer.getByRole("link", { name: "Source 1: A deleted document" }).click();
  await page.getByRole("complementary", { name: "Source 1" }).getByText("was deleted").waitFor();
});

await browser.close();
console.log(JSON.stringify(report));
