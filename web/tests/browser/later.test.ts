import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cell, formula, goTo, hasBrowser, notice, startGridBrowser, type GridBrowser } from "./grid-page";

let chromium: GridBrowser;

describe.skipIf(!hasBrowser)("parts that are loaded later", { timeout: 60_000 }, () => {
  beforeAll(async () => {
    chromium = await startGridBrowser();
  }, 60_000);
  afterAll(() => chromium?.close());

  /** Opens the grid. Its later parts come when the returned function is called. */
  async function openSlowly() {
    const page = await chromium.browser.newPage({ viewport: { width: 1280, height: 800 } });
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route(/later-parts/, async (route) => {
      await released;
      await route.continue();
    });
    await page.goto(chromium.address);
    await page.locator(".cell", { hasText: "Column 1" }).first().waitFor();
    return { page, release };
  }

  test("keys that point at cells are pressed again in order", async () => {
    const { page, release } = await openSlowly();
    await goTo(page, "H20");
    const before = await cell(page, 19, 7);
    await page.keyboard.type("=");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.type("+10");
    await page.keyboard.press("Enter");
    expect(await cell(page, 19, 7)).toBe(before);
    release();
    await expect.poll(() => cell(page, 19, 7)).toBe("=H19+10");
    await page.close();
  });

  test("the text after Ctrl+F goes to the find bar and not into a cell", async () => {
    const { page, release } = await openSlowly();
    await goTo(page, "B2");
    const before = await formula(page);
    await page.keyboard.press("Control+f");
    await page.keyboard.type("Column 3");
    release();
    await expect.poll(() => page.locator(".find input").inputValue()).toBe("Column 3");
    await page.keyboard.press("Escape");
    await expect.poll(() => formula(page)).toBe(before);
    await page.close();
  });

  test("what cannot be loaded is said, and nothing is typed twice", async () => {
    const page = await chromium.browser.newPage();
    await page.route(/later-parts/, (route) => route.abort());
    await page.goto(chromium.address);
    await page.locator(".cell", { hasText: "Column 1" }).first().waitFor();
    await goTo(page, "H20");
    await page.keyboard.type("=1+1");
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => cell(page, 19, 7)).toBe("=1+1");
    await page.keyboard.press("Shift+F10");
    await notice(page, "could not be loaded").waitFor();
    await page.close();
  });
});
