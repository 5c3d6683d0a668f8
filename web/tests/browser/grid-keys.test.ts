import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cell, formula, goTo, hasBrowser, name, notice, startGridBrowser, topRow, withGrid, type GridBrowser } from "./grid-page";

let chromium: GridBrowser;

describe.skipIf(!hasBrowser)("keys, headers, widths and read-only sheets", { timeout: 60_000 }, () => {
  beforeAll(async () => {
    chromium = await startGridBrowser();
  }, 60_000);
  afterAll(() => chromium?.close());

  test("selects rows, columns and everything by keys and headers", async () => {
    const page = await chromium.open();
    await goTo(page, "C4");
    await page.keyboard.press("Shift+Space");
    await expect.poll(() => name(page)).toBe("4:4");
    await goTo(page, "C4:D5");
    await page.keyboard.press("Control+Space");
    await expect.poll(() => name(page)).toBe("C:D");
    await page.keyboard.press("Control+a");
    await expect.poll(() => name(page)).toMatch(/^1:/);
    await page.locator('.column[aria-colindex="4"]').click();
    await expect.poll(() => name(page)).toBe("C:C");
    await page.locator('.column[aria-colindex="6"]').click({ modifiers: ["Shift"] });
    await expect.poll(() => name(page)).toBe("C:E");
    await page.locator(".row:visible .row-header", { hasText: /^7$/ }).click();
    await expect.poll(() => name(page)).toBe("7:7");
    await goTo(page, "B2");
    await page.keyboard.press("Alt+PageDown");
    await expect.poll(() => name(page)).not.toBe("B2");
    await page.keyboard.press("Alt+PageUp");
    await expect.poll(() => name(page)).toBe("B2");
    await page.keyboard.press("Control+End");
    await expect.poll(() => name(page)).toBe(`L${2 ** 30}`);
    await page.keyboard.press("Control+Home");
    await expect.poll(() => name(page)).toBe("A1");
    expect(await topRow(page)).toBe(1);
    await page.close();
  });

  test("inserts and deletes the rows of several selections, from the last on", async () => {
    const page = await chromium.open();
    const log = () => withGrid(page, (grid) => grid.source.log.splice(0), null);
    const header = (number: string) => page.locator(".row:visible .row-header", { hasText: new RegExp(`^${number}$`) });
    await header("3").click();
    await header("4").click({ modifiers: ["Shift"] });
    await header("9").click({ modifiers: ["Control"] });
    await page.keyboard.press("Control+-");
    await expect.poll(log).toEqual(["rows 8 -1", "rows 2 -2"]);
    await page.locator('.column[aria-colindex="3"]').click();
    await page.keyboard.press("Control+Shift++");
    await expect.poll(log).toEqual(["columns 1 1"]);
    await goTo(page, "B2:B4");
    await page.keyboard.press("Shift+F10");
    await page.getByRole("menuitem", { name: "Insert 3 rows above" }).click();
    await expect.poll(log).toEqual(["rows 1 3"]);
    await expect.poll(() => name(page)).toBe("B2:B4");
    // Without whole rows or columns, the keys zoom the page.
    await page.keyboard.press("Control+-");
    expect(await log()).toEqual([]);
    await page.close();
  });

  test("Ctrl+Minus on everything zooms, and deletes nothing", async () => {
    const page = await chromium.open();
    await page.locator(".cell:visible").first().click();
    for (const key of ["Control+a", "Control+-", "Control++"]) await page.keyboard.press(key);
    expect(await withGrid(page, ({ source }) => source.log, null)).toEqual([]);
    await page.close();
  });

  test("Delete clears all selected ranges in one edit", async () => {
    const page = await chromium.open();
    await page.mouse.click(200, 84);
    await page.keyboard.down("Control");
    await page.mouse.click(400, 132);
    await page.keyboard.up("Control");
    await page.keyboard.press("Delete");
    await expect.poll(() => withGrid(page, (grid) => grid.source.log, null)).toEqual(["setCells 2"]);
    await page.close();
  });

  test("the fill handle continues dates", async () => {
    const page = await chromium.open();
    for (const [at, text] of [["P1", "2024-01-31"], ["P2", "2024-02-29"]] as const) {
      await goTo(page, at);
      await page.keyboard.type(text);
      await page.keyboard.press("Enter");
    }
    await goTo(page, "P1");
    const handle = (await page.locator(".fill-handle").boundingBox())!;
    await page.mouse.move(handle.x + 4, handle.y + 4);
    await page.mouse.down();
    await page.mouse.move(handle.x + 4, handle.y + 4 + 48, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => cell(page, 2, 15)).toBe("2024-02-02");
    await expect.poll(() => name(page)).toBe("P1:P3");
    await page.close();
  });

  test("widths of columns are given to the app and taken back; a click soon after a drag does not fit the column", async () => {
    const page = await chromium.open();
    await page.evaluate(() => {
      const kept: Record<number, readonly (readonly [number, number])[]> = { 1: [[1, 180], [2, 9e9], [-4, 50]] };
      document.querySelector("cellar-grid")!.columnWidths = { load: (sheet) => kept[sheet] ?? [], save: (sheet, widths) => (kept[sheet] = widths) };
      Object.assign(window, { kept });
    });
    const width = () => page.locator('.column[aria-colindex="3"]').evaluate((one) => (one as HTMLElement).offsetWidth);
    await expect.poll(width).toBe(180);
    const box = (await page.locator('.column[aria-colindex="3"] .resize').boundingBox())!;
    await page.mouse.move(box.x + 4, box.y + 8);
    await page.mouse.down();
    await page.mouse.move(box.x + 44, box.y + 8, { steps: 3 });
    await page.mouse.up();
    await page.mouse.down({ clickCount: 2 });
    await page.mouse.up({ clickCount: 2 });
    await expect.poll(width).toBe(220);
    expect(await page.evaluate(() => (window as unknown as { kept: unknown }).kept)).toEqual({ 1: [[1, 220]] });
    await page.waitForTimeout(600);
    await page.mouse.dblclick(box.x + 44, box.y + 8);
    await expect.poll(width).toBeLessThan(150);
    await page.close();
  });

  test("a read-only sheet opens no editor and says why, once", async () => {
    const page = await chromium.open();
    await withGrid(page, (grid) => grid.source.setStatus({ role: "owner", readOnlyReason: "The spreadsheet is archived" }), null);
    const notices = await page.evaluateHandle(() => {
      const list: string[] = [];
      document.querySelector("cellar-grid")!.addEventListener("cellar-notice", (event) => list.push((event as CustomEvent<string>).detail));
      return list;
    });
    await goTo(page, "B3");
    await page.keyboard.type("x");
    await notice(page, "The spreadsheet is archived").waitFor();
    await page.keyboard.press("F2");
    await page.mouse.dblclick(300, 200);
    expect(await page.locator(".editor.open").count()).toBe(0);
    expect(await notices.jsonValue()).toEqual(["The spreadsheet is archived"]);
    expect(await page.locator(".editor").inputValue()).toBe("");
    await page.close();
  });

  test("a text that can no longer be stored stays open", async () => {
    const page = await chromium.open();
    await goTo(page, "B3");
    await page.keyboard.type("precious");
    await withGrid(page, (grid) => grid.source.setStatus({ role: "viewer" }), null);
    await page.keyboard.press("Enter");
    await notice(page, "You can view").waitFor();
    expect(await page.locator(".editor.open").inputValue()).toBe("precious");
    await withGrid(page, (grid) => grid.source.setStatus({ role: "editor" }), null);
    await page.keyboard.press("Enter");
    await goTo(page, "B3");
    await expect.poll(() => formula(page)).toBe("precious");
    await page.close();
  });
});
