// What each walk through the console shares: named steps, and a look at a page in both themes and widths.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describePages, findBarriers, isTooWide, PHONE, WIDE } from "./browser.mjs";

const { CONSOLE_SHOTS } = process.env;
export const PASSWORD = "correct horse";
const NARROW = { width: 320, height: 640 };

export const faults = [];
export const report = { done: [], faults, bytes: null };

export function expect(condition, what) {
  if (!condition) faults.push(what);
}

export async function step(name, work) {
  const before = faults.length;
  try {
    await work();
  } catch (error) {
    faults.push(`${name}: ${error}\n${await describePages()}`);
  }
  for (let at = before; at < faults.length; at++) faults[at] = `[${name}] ${faults[at]}`;
  report.done.push(name);
}

/** The address at which somebody makes an account; of a server without one, for its first. */
export async function makeLink(url, token, wanted = {}) {
  const made = await fetch(`${url}/v1/people/links`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify(wanted),
  });
  return url + (await made.json()).path;
}

/** Makes an account in a browser. */
export async function makeAccount(page, link, { handle, name, organisation }) {
  await page.goto(link);
  const form = page.getByRole("form", { name: "Make your account" });
  await form.getByLabel("Handle").fill(handle);
  await form.getByLabel("Your name").fill(name);
  if (organisation) await form.getByLabel("Organisation").fill(organisation);
  await form.getByLabel("Password").fill(PASSWORD);
  await form.getByRole("button", { name: "Make the account" }).click();
  await page.getByRole("button", { name: "Your account" }).waitFor();
}

/** Looks at a page in both themes and widths. */
export async function inspect(page, name) {
  for (const [size, viewport] of [
    ["wide", WIDE],
    ["phone", PHONE],
  ])
    for (const theme of ["light", "dark"]) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
      await page.waitForFunction((want) => document.documentElement.dataset.theme === want, theme);
      const here = `${name}, ${size}, ${theme}`;
      // What colours are is the same on both widths, and where things are in both themes.
      if (CONSOLE_SHOTS) {
        await mkdir(CONSOLE_SHOTS, { recursive: true });
        await page.screenshot({
          path: join(CONSOLE_SHOTS, `${name}-${size}-${theme}.png`),
        });
      }
      if (!CONSOLE_SHOTS && (size === "wide") !== (theme === "light")) continue;
      for (const barrier of await findBarriers(page)) faults.push(`${here}: ${barrier}`);
      expect(!(await isTooWide(page)), `${here}: it scrolls sideways`);
    }
  const above = await page.locator(".crumb a[aria-current]").allInnerTexts();
  expect(above.length === 0, `${name}: ${above.join()} is marked as the current page`);
  await page.setViewportSize(NARROW);
  expect(!(await isTooWide(page)), `${name}, 320 px: it scrolls sideways`);
  await page.setViewportSize(WIDE);
  await page.emulateMedia({ colorScheme: "light" });
}
