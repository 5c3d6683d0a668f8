import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { formula, goTo, hasBrowser, name, notice, row, startGridBrowser, topRow, withGrid, type GridBrowser } from "./grid-page";

let chromium: GridBrowser;

describe.skipIf(!hasBrowser)("marks, frozen rows and rows of others", { timeout: 60_000 }, () => {
  beforeAll(async () => {
    chromium = await startGridBrowser();
  }, 60_000);
  afterAll(() => chromium?.close());

  test("a mark is drawn over its range, moves with rows, and is spoken", async () => {
    const page = await chromium.open();
    await withGrid(page, (grid) => {
      const area = { sheet: 1, rowCount: 1, columnCount: 2 };
      grid.marks = [
        { ...area, firstRow: 4, firstColumn: 1, kind: "person", color: 2, label: "Ada" },
        { ...area, firstRow: 2_000_000, firstColumn: 1, kind: "found" },
      ];
    }, null);
    const mark = page.locator(".mark.person:visible");
    await mark.waitFor();
    expect(await page.locator(".mark:visible").count()).toBe(1);
    const box = (await mark.boundingBox())!;
    const cell = (await row(page, "5").boundingBox())!;
    expect(Math.abs(box.y + box.height - (cell.y + cell.height))).toBeLessThanOrEqual(1);
    expect(await mark.locator(".mark-label").textContent()).toBe("Ada");
    await withGrid(page, (grid) => grid.source.insertRows(0, 3), null);
    const moved = (await row(page, "8").boundingBox())!;
    await expect.poll(async () => Math.abs((await mark.boundingBox())!.y - moved.y)).toBeLessThanOrEqual(2);
    await goTo(page, "B8");
    await expect.poll(() => page.locator("[aria-live]").first().textContent()).toContain("person Ada");
    await withGrid(page, (grid) => (grid.marks = []), null);
    await expect.poll(() => page.locator(".mark:visible").count()).toBe(0);
    await page.close();
  });

  test("rows of others move the selection and an open text with their cell", async () => {
    const page = await chromium.open();
    await goTo(page, "B20");
    await page.keyboard.type("mine");
    await withGrid(page, (grid) => grid.source.insertRows(3, 5), null);
    await page.keyboard.press("Enter");
    await goTo(page, "B25");
    await expect.poll(() => formula(page)).toBe("mine");
    await withGrid(page, (grid) => grid.source.deleteRows(0, 10), null);
    await expect.poll(() => name(page)).toBe("B15");
    await page.keyboard.type("lost?");
    await withGrid(page, (grid) => grid.source.deleteRows(14, 1), null);
    await notice(page, "B15 was deleted while you edited it. Your text was: lost?").waitFor();
    await page.close();
  });

  test("a frozen row stays, is drawn in the same frame, and takes clicks", async () => {
    const page = await chromium.open();
    await withGrid(page, (grid) => (grid.frozenRows = 1), null);
    await page.mouse.move(300, 300);
    await page.mouse.wheel(0, 2_405);
    await expect.poll(() => topRow(page)).toBe(102);
    const header = page.locator(".row.frozen");
    expect(await header.locator(".cell:visible").first().textContent()).toBe("Column 1");
    const frozen = (await header.boundingBox())!;
    const first = (await row(page, "102").boundingBox())!;
    expect(first.y).toBeLessThanOrEqual(frozen.y + 24);
    await page.mouse.click(frozen.x + 200, frozen.y + 12);
    await expect.poll(() => name(page)).toBe("B1");
    expect(await topRow(page)).toBe(102);
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => topRow(page)).toBe(2);
    await goTo(page, String(2 ** 30));
    await row(page, String(2 ** 30)).waitFor();
    await goTo(page, "A102");
    await page.keyboard.press("Control+Home");
    await expect.poll(() => name(page)).toBe("A1");
    await page.close();
  });

  test("frozen rows use at most half of the height", async () => {
    const page = await chromium.open({ viewport: { width: 800, height: 400 } });
    await withGrid(page, (grid) => (grid.frozenRows = 500), null);
    await expect.poll(() => page.locator(".row.frozen").count()).toBeGreaterThan(0);
    const view = (await page.locator(".viewport").boundingBox())!;
    expect(await page.locator(".row.frozen").count()).toBeLessThanOrEqual(view.height / 2 / 24);
    await page.mouse.move(300, 200);
    await page.mouse.wheel(0, 2_400);
    await expect.poll(() => topRow(page)).toBeGreaterThan(100);
    await page.close();
  });
});
