// Two people on one server: accounts, an organisation, keys, and who may call what; writes a report as JSON.
//
// CONSOLE_URL is a server with the token CONSOLE_TOKEN. With CONSOLE_SHOTS, a picture of each page is
// written to that folder.
import { openBrowser, openPage, PHONE, WIDE } from "./browser.mjs";
import { expect, faults, inspect, makeAccount, makeLink, PASSWORD, report, step } from "./walk.mjs";

const { CONSOLE_URL, CONSOLE_TOKEN } = process.env;
const TILL = {
  openapi: "3.1.0",
  info: { title: "Till", version: "1" },
  servers: [{ url: "https://till.example" }],
  paths: {
    "/coins": {
      get: {
        operationId: "count_coins",
        summary: "Count coins",
        responses: { 200: { description: "Coins" } },
      },
      post: {
        operationId: "add_coins",
        summary: "Add coins",
        responses: { 200: { description: "Coins" } },
      },
    },
  },
};
const SECRET = "s3cret-of-bob-at-the-bank";
const UI = `${CONSOLE_URL}/ui`;

const browser = await openBrowser();
const ada = await openPage(browser, CONSOLE_URL, faults);
const bob = await openPage(browser, CONSOLE_URL, faults);
let invitation = "";
let key = "";

const statusOf = async (path, token) => {
  const answer = await fetch(CONSOLE_URL + path, {
    headers: { Authorization: `Bearer ${token}` },
  });
  return answer.status;
};

await step("the first person", async () => {
  await makeAccount(ada, await makeLink(CONSOLE_URL, CONSOLE_TOKEN), {
    handle: "ada",
    name: "Ada Lovelace",
    organisation: "acme",
  });
  await ada.getByRole("button", { name: "Your account" }).click();
  await ada.locator("#account").getByText("Administrator, Editor").waitFor();
  await inspect(ada, "account-menu");
  await ada.setViewportSize(PHONE);
  await ada.getByRole("button", { name: "Menu" }).click();
  await ada
    .locator("#menu-phone")
    .getByRole("link", { name: "Sources" })
    .waitFor();
  await inspect(ada, "account-sheet");
  await ada.setViewportSize(WIDE);
});

await step("an invitation", async () => {
  await ada.goto(`${UI}/organisations/acme/members`);
  await ada.getByText("Only you so far").waitFor();
  await ada.getByRole("button", { name: "Invite" }).click();
  const dialog = ada.getByRole("dialog", { name: "Invite to acme" });
  await inspect(ada, "organisation-invite");
  await dialog.getByRole("button", { name: "Make the link" }).click();
  const shown = ada.getByRole("region", { name: "The link, shown this once" });
  invitation = await shown.locator("code").innerText();
  await shown.getByRole("button", { name: "I have sent it" }).click();
  await makeAccount(bob, invitation, { handle: "bob", name: "Bob" });
  expect(
    (await bob.getByRole("button", { name: "Invite" }).count()) === 0,
    "Bob may invite",
  );
});

await step("somebody waits, and is let in", async () => {
  await ada.goto(`${UI}/organisations`);
  const found = ada.getByRole("form", { name: "Found an organisation" });
  await found.getByLabel("Handle").fill("zoo");
  await inspect(ada, "organisations");
  await found.getByRole("button").click();
  await ada.waitForURL("**/organisations/zoo/members");
  await bob.goto(`${UI}/organisations`);
  const ask = bob.getByRole("form", { name: "Ask to be let in" });
  await ask.getByLabel("Handle").fill("zoo");
  await ask.getByRole("button").click();
  await ask.getByText("Asked.").waitFor();
  await ada.reload();
  const nav = ada.getByRole("navigation", {
    name: "Organisation",
    exact: true,
  });
  await nav.getByText("1 waiting").waitFor();
  await inspect(ada, "organisation-waiting");
  await ada.getByRole("button", { name: "Let in" }).click();
  const dialog = ada.getByRole("dialog", { name: "Let Bob (bob) in" });
  await dialog.getByLabel("Approver").check();
  await dialog.getByRole("button", { name: "Let in" }).click();
  await ada
    .getByRole("button", { name: "Roles of Bob: Approver, Member" })
    .waitFor();
  await nav.getByText("1 waiting").waitFor({ state: "detached" });
});

await step("the last administrator stays", async () => {
  await ada.getByRole("button", { name: "Leave zoo" }).click();
  const dialog = ada.getByRole("dialog", { name: "Leave zoo?" });
  await dialog.getByRole("button", { name: "Leave zoo" }).click();
  await dialog.getByText("the last administrator").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await ada.getByRole("button", { name: "More for Bob" }).click();
  await inspect(ada, "organisation-menu");
  await ada.getByRole("button", { name: "Remove from zoo" }).click();
  const other = ada.getByRole("dialog", { name: "Remove Bob (bob) from zoo?" });
  await other.getByRole("button", { name: "Remove" }).click();
  await ada
    .getByRole("button", { name: "More for Bob" })
    .waitFor({ state: "detached" });
});

await step("a key", async () => {
  await bob.goto(`${UI}/keys`);
  await bob.getByText("No keys yet").waitFor();
  await bob.getByRole("button", { name: "New key" }).click();
  const dialog = bob.getByRole("dialog", { name: "New key" });
  await dialog.getByLabel("Name").fill("nightly report");
  await inspect(bob, "keys-new");
  await dialog.getByRole("button", { name: "Make the key" }).click();
  const shown = bob.getByRole("region", {
    name: "The key for nightly report, shown this once",
  });
  key = await shown.locator("code").innerText();
  await inspect(bob, "keys");
  expect((await statusOf("/v1/tools", key)) === 200, "the key does not work");
  await shown.getByRole("button", { name: "I have stored it" }).click();
  expect(!(await bob.content()).includes(key), "the key is still on the page");
  await bob.getByRole("button", { name: "Revoke: nightly report" }).click();
  const sure = bob.getByRole("dialog", { name: "Revoke nightly report?" });
  await sure.getByRole("button", { name: "Revoke" }).click();
  await bob
    .getByRole("button", { name: "Show 1 key that no longer works" })
    .waitFor();
  expect((await statusOf("/v1/tools", key)) === 401, "a revoked key works");
});

await step("a service account, and another organisation", async () => {
  await ada.goto(`${UI}/organisations/acme/keys`);
  await ada.getByRole("button", { name: "New service account" }).click();
  const account = ada.getByRole("dialog", { name: "New service account" });
  await account.getByLabel("Handle").fill("robot");
  await account.getByRole("button", { name: "Make the account" }).click();
  const dialog = ada.getByRole("dialog", { name: "New key" });
  await dialog.getByLabel("Name").fill("night");
  await dialog.getByRole("button", { name: "Make the key" }).click();
  const shown = ada.getByRole("region", { name: "The key for night, shown this once" });
  const robot = await shown.locator("code").innerText();
  await ada.getByRole("button", { name: "Revoke: night" }).waitFor();
  await inspect(ada, "service-keys");
  expect((await statusOf("/v1/tools", robot)) === 200, "the key does not work");
  await ada.getByRole("button", { name: "Your account" }).click();
  await ada.locator("#account").getByRole("button", { name: "zoo" }).click();
  await ada.locator("#account").getByRole("button", { name: "zoo", pressed: true }).waitFor();
  await ada.keyboard.press("Escape");
});

await step("a credential", async () => {
  await bob.goto(`${UI}/credentials`);
  await bob.getByText("No credentials yet").waitFor();
  await bob.getByRole("button", { name: "Add a credential" }).click();
  const form = bob.getByRole("form", { name: "Add a credential" });
  await form.getByRole("combobox", { name: "Source" }).fill("bank");
  await form.getByLabel("Value").fill(SECRET);
  await inspect(bob, "credential-new");
  await form.getByRole("button", { name: "Store it" }).click();
  await bob.getByText("In use").waitFor();
  await inspect(bob, "credentials");
  expect(!(await bob.content()).includes(SECRET), "the page shows the credential");
  await bob.getByRole("button", { name: "Remove: " }).click();
  await bob.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await bob.getByText("No credentials yet").waitFor();
});

await step("a source is connected", async () => {
  await ada.goto(`${UI}/organisations/acme/members`);
  await ada.getByRole("button", { name: "Roles of Bob: Member" }).click();
  const roles = ada.getByRole("dialog", { name: "Roles of Bob" });
  await roles.getByLabel("Editor").check();
  await roles.getByRole("button", { name: "Save" }).click();
  await ada
    .getByRole("button", { name: "Roles of Bob: Editor, Member" })
    .waitFor();

  await bob.goto(`${UI}/sources`);
  await bob.getByRole("link", { name: "Connect" }).click();
  await bob.getByRole("link", { name: "REST API" }).click();
  const form = bob.getByRole("form", { name: "REST API" });
  await form.getByLabel("Name", { exact: true }).fill("till");
  await form.getByLabel(/^OpenAPI document/).fill("no document");
  await form.getByRole("button", { name: "Test" }).click();
  const test = bob.getByRole("region", { name: "Test" });
  await test.getByRole("alert").waitFor();
  await form.getByLabel(/^OpenAPI document/).fill(JSON.stringify(TILL));
  await form.getByRole("button", { name: "Test" }).click();
  await test.getByText("bob--till__add_coins").waitFor();
  const operations = bob.getByRole("region", { name: "Operations" });
  await operations.getByLabel("Those I choose").check();
  await operations.getByRole("checkbox", { name: /Count coins/ }).check();
  await operations.getByText("1 of 2 selected").waitFor();
  await form.getByRole("button", { name: "Test again" }).click();
  await test.getByText("1 tool listed").waitFor();
  await inspect(bob, "connect");
  await test.getByRole("button", { name: "Connect 1 tool" }).click();
  await bob.waitForURL("**/sources/connectors/*");
  await bob.getByRole("link", { name: "bob--till__count_coins" }).waitFor();
});

await step("it is shared, reviewed and published", async () => {
  await ada.goto(`${UI}/tools/bob--till__count_coins`);
  await ada.getByText("There is no such tool").waitFor();
  const sees = bob.getByRole("region", { name: "Who sees it" });
  await sees.getByLabel("acme").check();
  await sees.getByRole("button", { name: "Change" }).click();
  await sees
    .getByRole("button", { name: "Change" })
    .waitFor({ state: "detached" });
  await ada.reload();
  await ada.getByRole("heading", { name: "Count coins" }).waitFor();
  const market = bob.getByRole("region", { name: "In the Market" });
  await market.getByRole("button", { name: "Send for review" }).click();
  await market.getByText("Waits for review").waitFor();
  await inspect(bob, "connector");
  await ada.goto(`${UI}/organisations/acme/reviews`);
  const review = ada.getByRole("region", { name: "bob--till" });
  await inspect(ada, "reviews");
  await review.getByRole("button", { name: "Publish" }).click();
  await ada.getByText("Nothing waits for review").waitFor();
});

await step("somebody of another organisation installs it", async () => {
  const csrf = await ada.evaluate(
    async () => (await (await fetch("/v1/session")).json()).csrf,
  );
  const path = await ada.evaluate(async (token) => {
    const headers = {
      "Content-Type": "application/json",
      "X-Pegboard-CSRF": token,
    };
    const body = JSON.stringify({ organisation: "zoo" });
    const made = await fetch("/v1/people/links", {
      method: "POST",
      headers,
      body,
    });
    return (await made.json()).path;
  }, csrf);
  const eve = await openPage(browser, CONSOLE_URL, faults);
  await makeAccount(eve, CONSOLE_URL + path, { handle: "eve", name: "Eve" });
  await eve.goto(`${UI}/market`);
  await eve.getByRole("button", { name: "Install: bob--till" }).click();
  await eve.getByRole("button", { name: "Remove: bob--till" }).waitFor();
  await inspect(eve, "market");
  await eve.goto(`${UI}/tools/bob--till__count_coins`);
  await eve.getByRole("heading", { name: "Count coins" }).waitFor();
  await eve.close();
});

await step("a base is published, and one of its documents is its owner's alone", async () => {
  await bob.goto(`${UI}/knowledge?new=yes`);
  const dialog = bob.getByRole("dialog", { name: "New base" });
  await dialog.getByLabel("Name", { exact: true }).fill("rules");
  await dialog.getByRole("button", { name: "Make the base" }).click();
  const [chooser] = await Promise.all([
    bob.waitForEvent("filechooser"),
    bob.getByRole("button", { name: "Choose files" }).click(),
  ]);
  const made = (name) => ({
    name: `${name}.md`,
    mimeType: "text/markdown",
    buffer: Buffer.from(`# ${name}\n\nThe till closes at nine.\n`),
  });
  await chooser.setFiles([made("Till"), made("Draft")]);
  const rowOf = (person, name) => person.locator("table.docs tr", { hasText: name });
  await rowOf(bob, "Till").getByText("Ready").waitFor();
  await rowOf(bob, "Draft").getByText("Ready").waitFor();
  const address = bob.url();
  await bob.getByRole("link", { name: "Draft" }).click();
  await bob.getByRole("heading", { name: "Draft", level: 1 }).waitFor();
  await bob.getByRole("main").getByRole("link", { name: "Settings", exact: true }).click();
  const form = bob.getByRole("form", { name: "Settings" });
  await form.getByLabel("Only its owner").check();
  await inspect(bob, "document-audience");
  await form.getByRole("button", { name: "Save" }).click();
  await form.getByText("Saved.").waitFor();

  await bob.goto(address);
  await bob.getByRole("link", { name: "Who may see it" }).click();
  const sees = bob.getByRole("region", { name: "Who sees it" });
  await sees.getByLabel("acme").check();
  await sees.getByRole("button", { name: "Change" }).click();
  const market = bob.getByRole("region", { name: "In the Market" });
  await market.getByRole("button", { name: "Send for review" }).click();
  await market.getByText("Waits for review").waitFor();
  await inspect(bob, "knowledge-sharing");
  await ada.goto(`${UI}/organisations/acme/reviews`);
  const review = ada.getByRole("region", { name: "bob--rules" });
  await review.getByText("Knowledge").first().waitFor();
  await review.getByRole("button", { name: "Publish" }).click();
  await ada.getByText("Nothing waits for review").waitFor();
  await ada.goto(`${UI}/market`);
  await ada.getByRole("listitem").filter({ hasText: "bob--rules" }).waitFor();
  await ada.goto(address);
  await rowOf(ada, "Till").waitFor();
  expect((await rowOf(ada, "Draft").count()) === 0, "the draft is shown to others");
});

await step("outside catalogues are a list of their own", async () => {
  await ada.goto(`${UI}/market`);
  await ada.getByRole("link", { name: "Outside catalogues" }).click();
  await ada.getByText("No outside catalogues").waitFor();
  await inspect(ada, "market-outside");
});

await step("a role of the organisation", async () => {
  await ada.goto(`${UI}/organisations/acme/roles`);
  await ada.getByRole("button", { name: "New role" }).click();
  const dialog = ada.getByRole("dialog", { name: "New role" });
  await dialog.getByLabel("Name", { exact: true }).fill("desk");
  await dialog.getByLabel("Title (optional)").fill("Sales desk");
  await dialog.getByLabel("Reads").selectOption("shop");
  await dialog.getByRole("button", { name: "Make the role" }).click();
  await ada.getByLabel("Sales desk in shop").selectOption("Write");
  await ada.getByText("Sales desk: shop from Read to Write").waitFor();
  await inspect(ada, "organisation-roles");
  await ada.getByRole("button", { name: "Save" }).click();
  await ada.getByText("1 change").waitFor({ state: "detached" });
  await ada.reload();
  const level = ada.getByLabel("Sales desk in shop");
  await level.waitFor();
  expect((await level.inputValue()) === "write", `the level is ${await level.inputValue()}`);
  await ada.goto(`${UI}/organisations/acme/members`);
  await ada.getByRole("button", { name: /^Roles of Bob/ }).click();
  await ada.getByRole("dialog", { name: "Roles of Bob" }).getByLabel("Sales desk").waitFor();
  await ada.keyboard.press("Escape");
});

await step("an agent of a person", async () => {
  await bob.goto(`${UI}/agents`);
  await bob.getByRole("button", { name: "New agent" }).click();
  const form = bob.getByRole("form", { name: "New agent" });
  await form.getByLabel("Name of the agent").fill("desk");
  await form.getByLabel("Instructions").fill("You count coins.");
  await form.getByLabel("Tools").fill("bob--till__*");
  await inspect(bob, "agent-new");
  await form.getByRole("button", { name: "Make the agent" }).click();
  await bob.getByText("1 tool for you").waitFor();
  await inspect(bob, "agents");
  await bob.getByRole("main").getByRole("link", { name: "desk" }).click();
  await bob.getByLabel("Instructions").waitFor();
  await bob.getByRole("region", { name: "What it works with" }).getByText("bob--till__*").waitFor();
  await inspect(bob, "agent");
});

await step("who may call a tool, and why", async () => {
  await ada.goto(`${UI}/tools/shop__refund?tab=access`);
  await ada.getByRole("link", { name: "For others" }).click();
  const form = ada.getByRole("form", { name: "Whose rights, which tool" });
  await form.getByLabel("Who", { exact: true }).selectOption("Eve (eve)");
  await form.getByRole("button", { name: "Explain" }).click();
  await ada.getByRole("heading", { name: "Eve (eve) does not see it" }).waitFor();
  const lit = ada.locator(".checks .decides");
  expect(
    /roles/i.test(await lit.innerText()),
    `what decides is ${await lit.innerText()}`,
  );
  await ada
    .getByRole("region", { name: "What would change it" })
    .getByText("The role editor in")
    .first()
    .waitFor();
  await inspect(ada, "explain-hidden");
  await ada.getByRole("link", { name: "Ada Lovelace" }).click();
  await ada
    .getByRole("heading", { name: "You may call it, once somebody approves" })
    .waitFor();
  await inspect(ada, "explain");
  await bob.goto(`${UI}/explain?tool=shop__find_invoice`);
  await bob.getByRole("heading", { name: "You may call it" }).waitFor();
  expect(
    (await bob.getByLabel("Who", { exact: true }).count()) === 0,
    "Bob may ask for others",
  );
  await bob.goto(`${UI}/explain?tool=shop__find_invoice&who=ada`);
  await bob.getByText("There is no person 'ada'").waitFor();
});

await step("a session that ended keeps what was typed", async () => {
  await bob.goto(`${UI}/tools/shop__find_invoice`);
  const form = bob.getByRole("form", { name: "Arguments" });
  await form.getByLabel("number").fill("98");
  await bob.context().clearCookies();
  const dialog = bob.getByRole("dialog", { name: "You were signed out" });
  // what the page asks for by itself may have found out first
  const run = form.getByRole("button", { name: /Run/ });
  await Promise.race([run.click().catch(() => undefined), dialog.waitFor()]);
  await dialog.getByLabel("Password").fill(PASSWORD);
  await inspect(bob, "signed-out");
  await dialog.getByRole("button", { name: "Sign in and go on" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(
    (await form.getByLabel("number").inputValue()) === "98",
    "the form was emptied",
  );
  await form.getByRole("button", { name: /Run/ }).click();
  await bob
    .getByRole("region", { name: "Result" })
    .getByText("Ada Lovelace")
    .waitFor();
});

await step("too many tries count down", async () => {
  await bob.getByRole("button", { name: "Your account" }).click();
  await bob.getByRole("button", { name: "Sign out" }).click();
  const dialog = bob.getByRole("dialog", { name: "Sign in" });
  await dialog.getByLabel("Name or e-mail").fill("bob");
  await dialog.getByLabel("Password").fill("wrong horse");
  for (let tries = 0; tries < 10; tries++)
    await fetch(`${CONSOLE_URL}/v1/session`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Origin: CONSOLE_URL },
      body: JSON.stringify({ name: "bob", password: "wrong horse" }),
    });
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.getByText(/Too many tries. Sign in again in \d+ s/).waitFor();
  expect(
    await dialog.getByRole("button", { name: "Sign in" }).isDisabled(),
    "it can be tried",
  );
  await inspect(bob, "sign-in-limit");
});

await browser.close();
console.log(JSON.stringify(report));
