// A person's own language model, and a skill from an archive; writes a report as JSON.
//
// CONSOLE_URL is a server without a model, with the token CONSOLE_TOKEN, CONSOLE_PROVIDER a model that answers once, and
// CONSOLE_FOLDER has archives. With CONSOLE_SHOTS, a picture of each page is written to that folder.
import { join } from "node:path";
import { openBrowser, openPage } from "./browser.mjs";
import { expect, faults, inspect, makeAccount, makeLink, report, step } from "./walk.mjs";

const { CONSOLE_URL, CONSOLE_TOKEN, CONSOLE_PROVIDER, CONSOLE_KEY, CONSOLE_FOLDER } = process.env;
const UI = `${CONSOLE_URL}/ui`;

const browser = await openBrowser();
const ada = await openPage(browser, CONSOLE_URL, faults);
const bob = await openPage(browser, CONSOLE_URL, faults);
let address = "";

await step("two people", async () => {
  await makeAccount(ada, await makeLink(CONSOLE_URL, CONSOLE_TOKEN), {
    handle: "ada",
    name: "Ada Lovelace",
    organisation: "acme",
  });
  const path = await ada.evaluate(async () => {
    const { csrf } = await (await fetch("/v1/session")).json();
    const headers = { "Content-Type": "application/json", "X-Pegboard-CSRF": csrf };
    const body = JSON.stringify({ organisation: "acme", roles: ["editor"] });
    return (await (await fetch("/v1/people/links", { method: "POST", headers, body })).json()).path;
  });
  await makeAccount(bob, CONSOLE_URL + path, { handle: "bob", name: "Bob" });
});

await step("a model is added with its address", async () => {
  await bob.goto(`${UI}/agents`);
  await bob.getByRole("button", { name: "Add a model" }).click();
  const form = bob.getByRole("form", { name: "Add a model" });
  await form.getByLabel("Name of the model").fill("tiny");
  await form.getByLabel("Title (optional)").fill("Tiny");
  await form.getByLabel("Model, as its provider names it").fill("tiny-1");
  await form.getByLabel("Address of the server (optional)").fill("file:///etc/passwd");
  await form.getByRole("button", { name: "Add a model" }).click();
  await form.getByRole("alert").waitFor();
  await inspect(bob, "model-new");
  await form.getByLabel("Address of the server (optional)").fill(CONSOLE_PROVIDER);
  await form.getByRole("button", { name: "Add a model" }).click();
  await bob.waitForURL("**/agents/models/*");
  address = bob.url();
  await bob.getByRole("heading", { name: "Tiny", level: 1 }).waitFor();
});

await step("its key is a credential", async () => {
  await bob.getByRole("link", { name: "Keys for this model" }).click();
  await bob.waitForURL("**/credentials?source=bob--tiny");
  const form = bob.getByRole("form", { name: "Add a credential" });
  await form.getByLabel("Value").fill(CONSOLE_KEY);
  await form.getByRole("button", { name: "Store it" }).click();
  await bob.getByText("In use").waitFor();
  expect(!(await bob.content()).includes(CONSOLE_KEY), "the page shows the key");
});

await step("it answers in a chat", async () => {
  await bob.goto(`${UI}/chat`);
  await bob.getByRole("textbox", { name: "Ask the board" }).fill("Say hello");
  await bob.keyboard.press("Enter");
  await bob.getByText("Hello from the tiny model.").waitFor();
});

await step("it is shared", async () => {
  await ada.goto(`${UI}/chat`);
  await ada.locator(".no-model").waitFor();
  expect((await ada.getByRole("textbox", { name: "Ask the board" }).count()) === 0, "Ada sees it");
  await ada.goto(address);
  await ada.getByText("There is no such model").waitFor();
  await bob.goto(address);
  const sees = bob.getByRole("region", { name: "Who sees it" });
  await sees.getByLabel("acme").check();
  await sees.getByRole("button", { name: "Change" }).click();
  await sees.getByRole("button", { name: "Change" }).waitFor({ state: "detached" });
  await ada.goto(`${UI}/chat`);
  await ada.getByRole("textbox", { name: "Ask the board" }).waitFor();
});

await step("it is published", async () => {
  const market = bob.getByRole("region", { name: "In the Market" });
  await market.getByRole("button", { name: "Send for review" }).click();
  await market.getByText("Waits for review").waitFor();
  await inspect(bob, "model");
  await ada.goto(`${UI}/organisations/acme/reviews`);
  const review = ada.getByRole("region", { name: "Tiny" });
  await review.getByRole("button", { name: "Publish" }).click();
  await ada.getByText("Nothing waits for review").waitFor();
  await ada.goto(`${UI}/market`);
  await ada.getByRole("listitem").filter({ hasText: "Tiny" }).waitFor();
});

await step("a skill from an archive", async () => {
  await bob.goto(`${UI}/skills/new`);
  const form = bob.getByRole("form", { name: "Add a skill" });
  const choose = async (name) => {
    const [chooser] = await Promise.all([
      bob.waitForEvent("filechooser"),
      form.getByRole("button", { name: "Choose a file" }).click(),
    ]);
    await chooser.setFiles(join(CONSOLE_FOLDER, name));
  };
  await choose("broken.zip");
  await form.getByText("This is no zip archive that can be read: broken.zip").waitFor();
  await choose("skill.zip");
  await form.getByText("references/damage.md").waitFor();
  await inspect(bob, "skill-new");
  await form.getByRole("button", { name: "Add a skill" }).click();
  await bob.getByRole("heading", { name: "Refunds" }).waitFor();
  await bob.getByText("Ask before you pay back.").waitFor();
});

await browser.close();
console.log(JSON.stringify(report));
