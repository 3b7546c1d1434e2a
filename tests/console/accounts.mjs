// What two people may use, and with whose account their calls act; writes a report as JSON.
//
// CONSOLE_URL is a server with the token CONSOLE_TOKEN. With CONSOLE_SHOTS, a picture of each page is
// written to that folder.
import { openBrowser, openPage } from "./browser.mjs";
import { expect, faults, inspect, makeAccount, makeLink, report, step } from "./walk.mjs";

const { CONSOLE_URL, CONSOLE_TOKEN } = process.env;
const UI = `${CONSOLE_URL}/ui`;

const browser = await openBrowser();
const ada = await openPage(browser, CONSOLE_URL, faults);
const bob = await openPage(browser, CONSOLE_URL, faults);

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

await step("two people", async () => {
  await makeAccount(ada, await makeLink(CONSOLE_URL, CONSOLE_TOKEN), {
    handle: "ada",
    name: "Ada Lovelace",
    organisation: "acme",
  });
  await ada.goto(`${UI}/organisations/acme/members`);
  await ada.getByRole("button", { name: "Invite" }).click();
  await ada.getByRole("button", { name: "Make the link" }).click();
  const shown = ada.getByRole("region", { name: "The link, shown this once" });
  await makeAccount(bob, await shown.locator("code").innerText(), { handle: "bob", name: "Bob" });
});

await step("what the organisation and its people may use", async () => {
  await ada.goto(`${UI}/organisations/acme/quotas`);
  await ada.getByText("The organisation as a whole has no quota.").waitFor();
  const set = async ({ who, measure, window, limit, everywhere }) => {
    await ada.getByRole("button", { name: "Set a quota" }).click();
    const dialog = ada.getByRole("dialog", { name: "Set a quota" });
    if (who) await dialog.getByLabel("Who").selectOption(who);
    if (everywhere) await dialog.getByLabel("Wherever the person acts").check();
    if (measure) await dialog.getByLabel(measure).check();
    if (window) await dialog.getByLabel(window).check();
    await dialog.getByLabel(/at most$/).fill(limit);
    if (who === "Bob (bob)") await inspect(ada, "quota-new");
    await dialog.getByRole("button", { name: "Set the quota" }).click();
    return dialog;
  };
  const wrong = await set({ limit: "many" });
  await wrong.getByRole("alert").waitFor();
  await wrong.getByLabel("Calls at most").fill("1,000");
  await wrong.getByRole("button", { name: "Set the quota" }).click();
  await ada.getByRole("button", { name: "Change: acme, calls a day" }).waitFor();
  await set({ measure: "Cost", window: "Month", limit: "50" });
  await ada.getByRole("button", { name: "Change: acme, cost a month" }).waitFor();
  await set({ who: "Bob (bob)", limit: "20" });
  await ada.getByRole("button", { name: "Change: Bob (bob), calls a day" }).waitFor();
  await ada.goto(`${UI}/organisations/acme/keys`);
  await ada.getByRole("button", { name: "New service account" }).click();
  const account = ada.getByRole("dialog", { name: "New service account" });
  await account.getByLabel("Handle").fill("robot");
  await account.getByRole("button", { name: "Make the account" }).click();
  await ada.getByRole("dialog", { name: "New key" }).waitFor();
  await ada.goto(`${UI}/organisations/acme/quotas`);
  await set({ who: "robot", limit: "0", everywhere: true });
  const everywhere = ada.getByRole("region", { name: "Wherever they act" });
  await everywhere.getByText("Nothing allowed").waitFor();

  await bob.goto(`${UI}/tools/shop__find_invoice`);
  const form = bob.getByRole("form", { name: "Arguments" });
  await form.getByLabel("number").fill("98");
  await form.getByRole("button", { name: /Run/ }).click();
  await bob.getByRole("region", { name: "Result" }).getByText("Ada Lovelace").waitFor();
  await bob.goto(`${UI}/organisations/acme/quotas`);
  await bob.getByRole("region", { name: "People and service accounts" }).getByText("1 of 20").waitFor();
  expect(
    (await bob.getByRole("button", { name: /^(Change|Remove|Set)/ }).count()) === 0,
    "Bob may set quotas",
  );
  expect(!(await bob.content()).includes("Wherever they act"), "Bob sees quotas of others");
  await inspect(bob, "quotas-member");

  await ada.getByRole("button", { name: "Change: Bob (bob), calls a day" }).click();
  const change = ada.getByRole("dialog", { name: "Change the quota: Bob (bob), calls a day" });
  await change.getByLabel("Calls at most").fill("1");
  await change.getByRole("button", { name: "Set the quota" }).click();
  await ada.getByRole("region", { name: "People and service accounts" }).getByText("Used up").waitFor();
  await inspect(ada, "quotas");
  await bob.goto(`${UI}/explain?tool=shop__find_invoice`);
  await bob.getByRole("heading", { name: "You may not call it" }).waitFor();
  await bob
    .getByRole("region", { name: "What would change it" })
    .getByText("An operator or administrator raises it.")
    .waitFor();
  await inspect(bob, "explain-quota");
  await ada.getByRole("button", { name: "Remove: Bob (bob), calls a day" }).click();
  await ada.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await ada.getByText("No quota for one person or service account.").waitFor();
});

await step("one of several accounts of a system acts", async () => {
  await bob.goto(`${UI}/credentials?source=bank`);
  const form = bob.getByRole("form", { name: "Add a credential" });
  await form.getByLabel("Value").fill("a token of Bob");
  await form.getByRole("button", { name: "Store it" }).click();
  await bob.getByText("In use").waitFor();
  await bob.getByRole("button", { name: "Add a credential" }).click();
  await form.getByLabel("Value").fill("another token of Bob");
  await form.getByText("You have default there").waitFor();
  await form.getByLabel("Your name for it").fill("work");
  await form.getByRole("button", { name: "Store it" }).click();
  await bob.getByRole("button", { name: "Use it: work" }).click();
  await bob.getByRole("button", { name: "Use it: default" }).waitFor();
  await inspect(bob, "credentials");
  await bob.goto(`${UI}/sources`);
  await bob.getByRole("link", { name: "Calls act with your account work" }).waitFor();
  await inspect(bob, "sources-account");

  await bob.goto(`${UI}/tools/bank__balance`);
  await bob.getByRole("button", { name: /Run/ }).click();
  const question = bob.getByRole("region", { name: "Approval" });
  await question.getByText("Acts with your account work at bank").waitFor();
  await ada.goto(`${UI}/approvals`);
  await ada.getByText("Acts with the account of Bob (bob), work at bank").waitFor();
  await ada.getByText("Bob (bob) wants to call bank__balance.").waitFor();
  await inspect(ada, "approval-account");
  await ada.getByRole("button", { name: "Deny" }).click();
  await ada.getByRole("heading", { name: "Nothing waits" }).waitFor();
  await ada.goto(`${UI}/approvals?show=decided`);
  await ada.getByText(/^Denied by Ada Lovelace \(ada\), /).waitFor();

  await bob.goto(`${UI}/credentials?source=bank`);
  for (const name of ["work", "default"]) {
    await bob.getByRole("button", { name: `Remove: ${name}` }).click();
    await bob.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await bob.getByRole("button", { name: `Remove: ${name}` }).waitFor({ state: "detached" });
  }
  await bob.goto(`${UI}/credentials`);
  await bob.getByText("No credentials yet").waitFor();
});

await step("a call waits for an account of its caller", async () => {
  await bob.goto(`${UI}/tools/bank__balance`);
  await bob.getByRole("button", { name: /Run/ }).click();
  const waits = bob.getByRole("region", { name: "Waits for an account" });
  await waits.getByRole("heading", { name: "Balance needs your account" }).waitFor();
  await inspect(bob, "account-needed");
  await waits.getByRole("link", { name: "Connect an account" }).click();
  const form = bob.getByRole("form", { name: "Add a credential" });
  await form.getByLabel("Value").waitFor();
  expect(
    (await form.getByRole("combobox", { name: "Source" }).inputValue()) === "bank",
    "the form is for another source",
  );
});

await step("a shared skill is approved for the organisation, another is shared no longer", async () => {
  await ask(ada, "PUT", "/organisations/acme/members/bob", { roles: ["editor"] });
  for (const name of ["refunds", "greetings"]) {
    const text = `---\nname: ${name}\ndescription: How ${name} are done.\n---\nFirst of all.`;
    const wanted = { kind: "skill", name, config: { files: { "SKILL.md": text } } };
    const shared = { visibility: "organisation", organisation: "acme" };
    const made = await ask(bob, "POST", "/resources", { ...wanted, ...shared });
    expect(made.status === 201, `the skill is refused: ${made.status}`);
  }
  await ada.goto(`${UI}/organisations/acme/reviews`);
  const unseen = ada.getByRole("region", { name: "Shared without a review" });
  const refunds = unseen.getByRole("region", { name: "bob--refunds", exact: true });
  await refunds.getByText("First of all.").waitFor();
  await inspect(ada, "reviews-shared");
  await refunds.getByRole("button", { name: "Approve for the organisation" }).click();
  await refunds.waitFor({ state: "detached" });
  await ada.goto(`${UI}/skills/bob--refunds__read`);
  await ada.getByText("Approved for the organisation by ada").waitFor();
  await ada.goto(`${UI}/skills/bob--greetings__read`);
  const greetings = ada.getByRole("region", { name: "bob--greetings", exact: true });
  await greetings.getByLabel("Note to the owner").fill("Not ours.");
  await greetings.getByRole("button", { name: "End the sharing" }).click();
  await ada.getByText("There is no such skill").waitFor();
});

await browser.close();
console.log(JSON.stringify(report));
