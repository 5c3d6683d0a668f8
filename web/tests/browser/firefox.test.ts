/** A newcomer's journey in Firefox, which the driver controls by WebDriver BiDi, without a program of its own. */

import { existsSync } from "node:fs";
import { launch, type Browser, type Page } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { HAS_STACK, startStack, type Stack } from "../stack";
import { startSite, type Site } from "./site";

const FIREFOX = process.env["FIREFOX"] ?? "/usr/bin/firefox-esr";
const START_MS = 60_000;

/** Cells of the shown sheet by row and column. */
const textAt = (page: Page, row: number, column: number) =>
  page.evaluate((row, column) => document.querySelector("cellar-grid")?.source?.cellAt(row, column)?.text, row, column);
const pending = (page: Page) => page.evaluate(() => document.querySelector("cellar-grid")?.source?.status.pending);
/** The texts of the cells that are drawn. */
const drawn = (page: Page) =>
  page.evaluate(() => [...document.querySelector("cellar-grid")!.shadowRoot!.querySelectorAll<HTMLElement>(".row:not([hidden]) .cell")].map((one) => one.textContent));

async function goTo(page: Page, address: string): Promise<void> {
  await page.locator("cellar-grid >>> .name-box").click();
  await page.keyboard.type(address);
  await page.keyboard.press("Enter");
}

async function withKey(page: Page, modifier: "Shift" | "Control", key: "F10" | "z"): Promise<void> {
  await page.keyboard.down(modifier);
  await page.keyboard.press(key);
  await page.keyboard.up(modifier);
}

describe.skipIf((!existsSync(FIREFOX) || !HAS_STACK) && process.env["CI"] === undefined)("a newcomer with Firefox", () => {
  const problems: string[] = [];
  let stack: Stack;
  let site: Site;
  let browser: Browser;

  beforeAll(async () => {
    [stack, browser] = await Promise.all([startStack(), launch({ browser: "firefox", executablePath: FIREFOX })]);
    site = await startSite(stack.url);
  }, START_MS);
  afterEach(() => expect(problems.splice(0), "problems that the page reported").toEqual([]));
  afterAll(async () => {
    await browser?.close();
    await site?.close();
    await stack?.stop();
  }, START_MS);

  test("opens a link, types, inserts a row, undoes it, and finds the value after a reload", { timeout: START_MS }, async () => {
    const spreadsheet = await stack.create("from Firefox");
    await stack.cellar("set", "-s", spreadsheet, "A1", "seen");
    const { url } = JSON.parse(await stack.cellar("links", "create", "-s", spreadsheet, "--role", "editor", "--json")) as { url: string };
    const page = await browser.newPage();
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    page.on("pageerror", (error) => problems.push(String(error)));
    await page.goto(url.replace(stack.url, site.url));
    await expect.poll(() => drawn(page), { timeout: 20_000 }).toContain("seen");

    await goTo(page, "B2");
    await page.keyboard.type("=6*7");
    await page.keyboard.press("Enter");
    await expect.poll(() => textAt(page, 1, 1), { timeout: 10_000 }).toBe("42");
    await goTo(page, "B2");
    await withKey(page, "Shift", "F10");
    await page.locator("cellar-grid >>> [role=menuitem]::-p-text(Insert row above)").click();
    await expect.poll(() => textAt(page, 2, 1), { timeout: 10_000 }).toBe("42");
    await expect.poll(() => pending(page), { timeout: 10_000 }).toBe(0);
    await withKey(page, "Control", "z");
    await expect.poll(() => textAt(page, 1, 1), { timeout: 10_000 }).toBe("42");
    await expect.poll(() => pending(page), { timeout: 10_000 }).toBe(0);

    await page.reload();
    await expect.poll(() => drawn(page), { timeout: 20_000 }).toEqual(expect.arrayContaining(["seen", "42"]));
    expect(await textAt(page, 1, 1)).toBe("42");
    const { cells, texts } = JSON.parse(await stack.cellar("get", "-s", spreadsheet, "--json")) as { cells: { formula?: string }[]; texts: string[] };
    expect(texts).toEqual(["seen", "42"]);
    expect(cells[1]?.formula).toBe("=6*7");
  });
});
