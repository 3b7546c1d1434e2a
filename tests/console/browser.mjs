// A browser that notes what a console must never do: break its own rules, ask another host, throw.
import AxeBuilder from "@axe-core/playwright";
import chromium from "@sparticuz/chromium";
import { chromium as driver } from "playwright-core";

// Never `chromium.args`: they turn the same-origin policy off, and nothing would be proved.
const ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage"];
const STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
// Elements without a fault are not described.
const LOOK_FOR = { runOnly: { type: "tag", values: STANDARDS }, resultTypes: ["violations"] };
export const WIDE = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

export async function openBrowser() {
  const executablePath = await chromium.executablePath();
  return driver.launch({ executablePath, args: ARGUMENTS, headless: true });
}

const pages = [];

/** The address and the text of each open page, as a person would read them now. */
export async function describePages() {
  const told = [];
  for (const page of pages.filter((item) => !item.isClosed())) {
    const text = await page.evaluate(() =>
      [...document.querySelectorAll("dialog[open], main")]
        .map((part) => part.innerText)
        .join("\n--\n"),
    );
    told.push(
      `${page.url()}, asked and not answered: ${[...page.waiting].join(" ")}\n${text.slice(0, 2000)}`,
    );
  }
  return told.join("\n====\n");
}

/**
 * A page in a context of its own, as of somebody who was never here.
 *
 * `elsewhere` is a server that the person visits too; what its pages ask other hosts for is not sent.
 */
export async function openPage(browser, base, faults, { elsewhere } = {}) {
  const context = await browser.newContext({ viewport: WIDE, colorScheme: "light" });
  await context.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) =>
      console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`),
    );
  });
  const page = await context.newPage();
  page.setDefaultTimeout(90_000);
  pages.push(page);
  page.waiting = new Set();
  const note = (request) => `${request.method()} ${request.url()}`;
  page.on("request", (request) => page.waiting.add(note(request)));
  for (const end of ["requestfinished", "requestfailed"])
    page.on(end, (request) => page.waiting.delete(note(request)));
  const origin = new URL(base).origin;
  const visited = elsewhere && new URL(elsewhere).origin;
  const isVisited = (url) => visited && url.startsWith(`${visited}/`);
  if (visited)
    await context.route(
      (url) => url.origin !== origin && url.origin !== visited,
      (route) => route.abort(),
    );
  context.on("request", (request) => {
    const url = request.url();
    if (isVisited(url) || (visited && isVisited(request.frame().url()))) return;
    if (url.startsWith("http") && new URL(url).origin !== origin) faults.push(`asked ${url}`);
  });
  page.on("pageerror", (error) => faults.push(`threw ${error}`));
  page.on("console", (message) => {
    const text = message.text();
    // A refusal of the API is an answer; what the page makes of it is tested.
    if (isVisited(message.location().url)) return;
    if (message.type() === "error" && !text.startsWith("Failed to load resource"))
      faults.push(`said ${text}`);
  });
  return page;
}

/**
 * Let a handler decide about requests, until the function that is returned is called.
 *
 * From then on they all go on, but still past a handler: while Chromium is told that nothing is
 * intercepted any more, a request that begins in that moment may never be answered.
 */
export async function intercept(page, pattern, handle) {
  let isOver = false;
  await page.route(pattern, (route) => (isOver ? route.continue() : handle(route)));
  return () => (isOver = true);
}

/** The bytes that arrive over the wire, by kind of file. */
export async function countBytes(page) {
  const session = await page.context().newCDPSession(page);
  const kinds = new Map();
  const bytes = { all: 0, script: 0 };
  await session.send("Network.enable");
  session.on("Network.responseReceived", ({ requestId, type }) => kinds.set(requestId, type));
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    bytes.all += encodedDataLength;
    if (kinds.get(requestId) === "Script") bytes.script += encodedDataLength;
  });
  return bytes;
}

/** What axe finds wrong with a page as it is shown now; no page has a frame of another origin. */
export async function findBarriers(page) {
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().options(LOOK_FOR).analyze();
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(" ")).join(", ")}`,
  );
}

/** Whether something reaches beyond the right edge, as it does where a phone scrolls sideways. */
export function isTooWide(page) {
  return page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
}
