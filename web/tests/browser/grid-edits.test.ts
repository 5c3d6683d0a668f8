import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cell, formula, goTo, hasBrowser, name, notice, startGridBrowser, withGrid, type GridBrowser } from "./grid-page";

let chromium: GridBrowser;

/** What was typed is stored or shown, wherever the user or another client goes meanwhile. */
describe.skipIf(!hasBrowser)("a text that is typed", { timeout: 60_000 }, () => {
  beforeAll(async () => {
    chromium = await startGridBrowser();
  }, 60_000);
  afterAll(() => chromium?.close());

  test("is stored when another sheet is chosen", async () => {
    const page = await chromium.open();
    await goTo(page, "C3");
    await page.keyboard.type("abc");
    await page.getByRole("tab", { name: "Empty" }).click();
    await page.getByRole("tab", { name: "Readings" }).click();
    await expect.poll(() => cell(page, 2, 2)).toBe("abc");
    await page.close();
  });

  test("is stored when the name box is used, and what is typed next goes to the next cell", async () => {
    const page = await chromium.open();
    await goTo(page, "C3");
    await page.keyboard.type("abc");
    await goTo(page, "F9");
    await page.keyboard.type("d");
    await page.keyboard.press("Enter");
    await expect.poll(() => cell(page, 8, 5)).toBe("d");
    expect(await cell(page, 2, 2)).toBe("abc");
    expect(await name(page)).toBe("F10");
    await page.close();
  });

  test("and that looks like a number, but is stored as text, is named once", async () => {
    const page = await chromium.open();
    await goTo(page, "P3");
    for (const text of ["5000", "24.12.2026", "25.12.2026"]) {
      await page.keyboard.type(text);
      await page.keyboard.press("Enter");
    }
    await notice(page, "24.12.2026 is stored as text").waitFor();
    await page.close();
  });

  test("continues in the formula bar", async () => {
    const page = await chromium.open();
    await goTo(page, "C3");
    await page.keyboard.type("abc");
    await page.locator(".formula").click();
    await page.keyboard.press("End");
    await page.keyboard.type("d");
    expect(await withGrid(page, ({ source }) => source.log, null)).toEqual([]);
    await page.keyboard.press("Enter");
    await expect.poll(() => cell(page, 2, 2)).toBe("abcd");
    await page.close();
  });

  test.each([".editor", ".formula"])("in %s is shown if its sheet is deleted, and stored in no other sheet", async (field) => {
    const page = await chromium.open();
    await page.getByRole("tab", { name: "Empty" }).click();
    await goTo(page, "C3");
    if (field === ".formula") await page.locator(field).click();
    await page.keyboard.type("precious");
    await withGrid(page, ({ source }) => source.deleteSheet(2), null);
    await notice(page, "Your text was: precious").waitFor();
    await page.keyboard.press("Enter");
    expect(await withGrid(page, ({ source }) => source.log, null)).toEqual([]);
    await expect.poll(() => formula(page)).not.toBe("precious");
    await page.close();
  });
});
