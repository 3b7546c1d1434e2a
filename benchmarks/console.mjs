// Times of the console on a processor slowed four times, as JSON; `console.py` starts the server.
import { countBytes, openBrowser, openPage } from "../tests/console/browser.mjs";

const base = process.env.CONSOLE_URL;
const faults = [];
const browser = await openBrowser();
const times = { paint: [], ready: [], route: [], key: [] };
let bytes;

async function slowPage() {
  const page = await openPage(browser, base, faults);
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  await page.addInitScript(() => {
    globalThis.frames_ = [];
    globalThis.keys_ = [];
    new PerformanceObserver((list) => {
      for (const item of list.getEntries()) globalThis.frames_.push(item.duration);
    }).observe({ type: "long-animation-frame", buffered: true });
    new PerformanceObserver((list) => {
      for (const item of list.getEntries())
        if (item.name === "keydown") globalThis.keys_.push(item.duration);
    }).observe({ type: "event", durationThreshold: 16, buffered: true });
  });
  return page;
}

/** Milliseconds from a click on a link of the side bar until the page has its heading. */
function changeRoute(page, name) {
  return page.evaluate(async (wanted) => {
    const link = [...document.querySelectorAll(".side a")].find((a) => a.innerText === wanted);
    const began = performance.now();
    link.click();
    while (document.querySelector("main h1")?.innerText !== wanted)
      await new Promise((resolve) => requestAnimationFrame(resolve));
    return performance.now() - began;
  }, name);
}

for (let round = 0; round < 5; round++) {
  const page = await slowPage();
  const counted = await countBytes(page);
  const began = performance.now();
  await page.goto(`${base}/ui/`);
  await page.getByText("Nothing needs you.").waitFor();
  times.ready.push(performance.now() - began);
  await page.waitForLoadState("networkidle");
  bytes = { ...counted };
  times.paint.push(
    await page.evaluate(
      () => performance.getEntriesByName("first-contentful-paint")[0].startTime,
    ),
  );
  for (const name of ["Tools", "Runs"]) await page.getByRole("link", { name }).first().hover();
  for (const name of ["Tools", "Runs", "Tools"]) times.route.push(await changeRoute(page, name));
  await page.getByRole("searchbox").pressSequentially("what a key costs", { delay: 60 });
  times.key.push(...(await page.evaluate(() => globalThis.keys_)), 16);
  await page.context().close();
}

// An answer of 1,000 tokens, 200 a second.
const page = await slowPage();
await page.goto(`${base}/ui/`);
await page.getByRole("textbox", { name: "Ask the board" }).fill("Write");
await page.keyboard.press("Enter");
await page.waitForURL("**/ui/chat/*");
await page.getByRole("button", { name: "Stop" }).waitFor();
await page.evaluate(() => void (globalThis.frames_.length = 0));
await page.getByText("The end.").waitFor({ timeout: 60_000 });
const frames = await page.evaluate(() => globalThis.frames_);
await browser.close();
console.log(JSON.stringify({ times, bytes, frames, faults }));
