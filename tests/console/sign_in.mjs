// Signing in at an identity provider, and letting an MCP client in; writes a report as JSON.
//
// CONSOLE_URL is a server with the token CONSOLE_TOKEN, whose identity provider is CONSOLE_ISSUER. With
// CONSOLE_SHOTS, a picture of each page is written to that folder.
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { openBrowser, openPage } from "./browser.mjs";
import { expect, faults, inspect, makeAccount, makeLink, PASSWORD, report, step } from "./walk.mjs";

const { CONSOLE_URL, CONSOLE_TOKEN, CONSOLE_ISSUER } = process.env;
const UI = `${CONSOLE_URL}/ui`;
const VERIFIER = "a verifier of more than forty-three characters, as PKCE wants it";

const browser = await openBrowser();
const ada = await openPage(browser, CONSOLE_URL, faults);

/** A program of the person, which waits for the browser to come back. */
async function startProgram() {
  const answers = [];
  const server = createServer((request, response) => {
    answers.push(new URL(request.url, "http://127.0.0.1"));
    response.end("Go back to the program.");
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const callback = `http://127.0.0.1:${server.address().port}/callback`;
  return { answers, callback, close: () => server.close() };
}

const post = (path, body) =>
  fetch(CONSOLE_URL + path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

const statusOf = async (path, token) => {
  const answer = await fetch(CONSOLE_URL + path, { headers: { Authorization: `Bearer ${token}` } });
  return answer.status;
};

/** Sign in at the provider, as somebody whom it knows by this name. */
async function signInElsewhere(page, login) {
  await page.getByRole("link", { name: "Sign in with your organisation" }).click();
  await page.waitForURL(`${CONSOLE_ISSUER}/**`);
  await page.locator("input[name=login]").fill(login);
  await page.locator("input[name=password]").fill("any");
  await page.locator("button[type=submit]").click();
  await page.getByText("Authorize").first().waitFor();
  await page.locator("button[type=submit]").click();
  await page.waitForURL(`${UI}/**`);
}

await step("the first person", async () => {
  await makeAccount(ada, await makeLink(CONSOLE_URL, CONSOLE_TOKEN), {
    handle: "ada",
    name: "Ada Lovelace",
    organisation: "acme",
  });
});

await step("somebody signs in at the provider of the organisation", async () => {
  const eve = await openPage(browser, CONSOLE_URL, faults, { elsewhere: CONSOLE_ISSUER });
  await eve.goto(`${UI}/`);
  await eve.getByRole("dialog", { name: "Sign in" }).waitFor();
  await inspect(eve, "sign-in-provider");
  await signInElsewhere(eve, "eve");
  await eve.getByRole("button", { name: "Your account" }).click();
  await eve.locator("#account").getByText("The eve").waitFor();
  await eve.locator("#account").getByRole("button", { name: "Sign out" }).click();
  await eve.getByRole("dialog", { name: /Sign in|signed out/ }).waitFor();
  await ada.goto(`${UI}/organisations/acme/members`);
  await ada.getByRole("button", { name: "Let in" }).waitFor();
  await inspect(ada, "organisation-provider");
});

const program = await startProgram();
const authorize = async (page) => {
  const registered = await post("/oauth/register", {
    redirect_uris: [program.callback],
    client_name: "Inspector",
  });
  const { client_id: client } = await registered.json();
  const url = new URL(`${CONSOLE_URL}/oauth/authorize`);
  url.search = new URLSearchParams({
    response_type: "code",
    client_id: client,
    redirect_uri: program.callback,
    code_challenge: createHash("sha256").update(VERIFIER).digest("base64url"),
    code_challenge_method: "S256",
    state: "mine",
    resource: `${CONSOLE_URL}/mcp`,
  });
  await page.goto(String(url));
  return client;
};

await step("a program is let in, and its key is revoked", async () => {
  const page = await openPage(browser, CONSOLE_URL, faults, { elsewhere: program.callback });
  const client = await authorize(page);
  const dialog = page.getByRole("dialog", { name: "Sign in" });
  await dialog.getByLabel("Name or e-mail").fill("ada");
  await dialog.getByLabel("Password").fill(PASSWORD);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  const asked = page.getByRole("region", { name: "“Inspector” wants to act as you" });
  await asked.getByText("You are signed in as Ada Lovelace.").waitFor();
  await asked.getByText(new URL(program.callback).host).waitFor();
  await inspect(page, "consent");
  await asked.getByRole("button", { name: "Let it in" }).click();
  await page.getByText("Go back to the program.").waitFor();
  const answer = program.answers.at(-1);
  expect(answer.searchParams.get("state") === "mine", `it was sent ${answer}`);
  const given = await fetch(`${CONSOLE_URL}/oauth/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      code: answer.searchParams.get("code"),
      client_id: client,
      redirect_uri: program.callback,
      code_verifier: VERIFIER,
    }),
  });
  const token = (await given.json()).access_token;
  const mcp = () =>
    fetch(`${CONSOLE_URL}/mcp`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${token}`,
        Accept: "application/json, text/event-stream",
        "Content-Type": "application/json",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
    }).then((response) => response.status);
  expect((await mcp()) !== 401, "the program is refused");
  expect((await statusOf("/v1/tools", token)) === 401, "its token opens the API too");
  await ada.goto(`${UI}/keys`);
  await ada.getByRole("button", { name: "Revoke: Inspector" }).click();
  await ada.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await ada.getByRole("button", { name: /no longer works/ }).waitFor();
  expect((await mcp()) === 401, "a revoked program may call");
  await page.close();
});

await step("another one is refused", async () => {
  const page = await openPage(browser, CONSOLE_URL, faults, { elsewhere: program.callback });
  await page.context().addCookies(await ada.context().cookies());
  await authorize(page);
  await page.getByRole("button", { name: "Refuse" }).click();
  await page.getByText("Go back to the program.").waitFor();
  const answer = program.answers.at(-1);
  expect(answer.searchParams.get("error") === "access_denied", `it was sent ${answer}`);
  await page.goto(`${UI}/consent#request=forged`);
  await page.reload();
  await page.getByText("This request cannot be decided").waitFor();
  await inspect(page, "consent-forged");
});

await step("a sign-in at the provider leads back to the request of a program", async () => {
  const page = await openPage(browser, CONSOLE_URL, faults, { elsewhere: CONSOLE_ISSUER });
  await authorize(page);
  await signInElsewhere(page, "eve");
  await page.getByRole("region", { name: "“Inspector” wants to act as you" }).waitFor();
  await page.getByText("You are signed in as The eve.").waitFor();
  await page.close();
});

await step("a link to connect an account leads to the sign-in and on", async () => {
  const page = await openPage(browser, CONSOLE_URL, faults);
  await page.goto(`${CONSOLE_URL}/v1/credentials/oauth/connect?source=none&for=local`);
  const dialog = page.getByRole("dialog", { name: "Sign in" });
  await dialog.getByLabel("Name or e-mail").fill("ada");
  await dialog.getByLabel("Password").fill(PASSWORD);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("There is no source 'none'.").waitFor();
  await page.close();
});

program.close();
await browser.close();
console.log(JSON.stringify(report));
