import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { formula, goTo, hasBrowser, notice, startGridBrowser, topRow, withGrid, type GridBrowser } from "./grid-page";

let chromium: GridBrowser;

const frames = (page: Page) => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
const spoken = (page: Page) => page.locator("[aria-live=polite]").textContent();

function paste(page: Page, lineCount: number): Promise<void> {
  return page.evaluate((count) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", Array(count).fill("x").join("\n"));
    const editor = document.querySelector("cellar-grid")!.shadowRoot!.querySelector(".editor")!;
    editor.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, lineCount);
}

describe.skipIf(!hasBrowser)("unusual texts", { timeout: 60_000 }, () => {
  beforeAll(async () => {
    chromium = await startGridBrowser();
  }, 60_000);
  afterAll(() => chromium?.close());

  test("cells with the longest text are drawn, announced and edited without a stop", async () => {
    const page = await chromium.open();
    await page.getByRole("tab", { name: "Empty" }).click();
    await withGrid(page, ({ source }) => {
      const text = "lorem ipsum שלום ".repeat(3_800);
      source.setCells(Array.from({ length: 400 }, (_, index) => ({ row: index >> 3, column: index & 7, input: text + index })));
    }, null);
    await page.locator(".cell", { hasText: "lorem" }).first().waitFor();
    // A browser lays out a whole text for a cell that shows ten letters: all of these took 20 s.
    const lengths = await page.locator(".cell:visible").evaluateAll((cells) => cells.map((cell) => cell.textContent!.length));
    expect(Math.max(...lengths)).toBeLessThan(1_000);
    await goTo(page, "B2");
    await expect.poll(() => spoken(page)).toContain("lorem");
    expect((await spoken(page))!.length).toBeLessThan(1_000);
    await page.keyboard.press("F2");
    await page.keyboard.type("abcdefghij");
    await frames(page);
    // Each key laid out the whole text a second time.
    expect((await formula(page)).length).toBeLessThan(20_000);
    await page.keyboard.press("Enter");
    expect(await withGrid(page, ({ source }) => source.cellAt(1, 1)!.text.slice(-12), null)).toBe("9abcdefghij".padStart(12, " "));
    // The bar shows the start only, and edits all of it.
    await goTo(page, "B2");
    await page.locator(".formula").click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("k");
    await page.keyboard.press("Enter");
    await expect.poll(() => withGrid(page, ({ source }) => source.cellAt(1, 1)!.text.slice(-4), null)).toBe("hijk");
    await page.close();
  });

  test("more lines than the stack has room for are refused with their number", async () => {
    const page = await chromium.open();
    await goTo(page, "C3");
    await paste(page, 300_000);
    await notice(page, "300,000 cells").waitFor();
    await paste(page, 100_000);
    await expect.poll(() => withGrid(page, ({ source }) => source.log, null)).toEqual(["setCells 100000"]);
    await page.close();
  });

  test("many lines in an open editor are no error", async () => {
    const page = await chromium.open();
    await goTo(page, "C3");
    await page.keyboard.press("F2");
    await page.locator(".editor").evaluate((editor: HTMLTextAreaElement) => {
      editor.setRangeText("x\n".repeat(130_000));
      editor.dispatchEvent(new InputEvent("input"));
    });
    await frames(page);
    await page.keyboard.press("Escape");
    await page.close();
  });

  test("in a page from right to left, columns start at the left, and only texts of that direction turn", async () => {
    const page = await chromium.open();
    await page.evaluate(() => document.documentElement.setAttribute("dir", "rtl"));
    await page.getByRole("tab", { name: "Empty" }).click();
    await withGrid(page, ({ source }) => source.setCells([{ row: 0, column: 0, input: "שלום!" }, { row: 1, column: 0, input: "Hello!" }]), null);
    const ends = (text: string) => page.locator(".cell", { hasText: text }).evaluate((cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      const [text, box] = [range.getBoundingClientRect(), cell.getBoundingClientRect()];
      return { left: text.left - box.left, right: box.right - text.right };
    });
    await page.locator(".cell", { hasText: "Hello!" }).waitFor();
    expect((await ends("Hello!")).left).toBeLessThan(8);
    expect((await ends("שלום")).right).toBeLessThan(8);
    await page.getByRole("tab", { name: "Readings" }).click();
    await page.mouse.move(600, 300);
    await page.mouse.wheel(300, 240);
    await expect.poll(() => topRow(page)).toBe(11);
    await expect.poll(() => page.locator(".column:visible").first().textContent()).toBe("D");
    await page.close();
  });

  test("what a cell has is spoken once it is loaded", async () => {
    const page = await chromium.open();
    await goTo(page, "B900000");
    await expect.poll(() => spoken(page)).toMatch(/^B900000, Station/);
    await page.close();
  });

  test("properties that were set before the element was defined are kept", async () => {
    const page = await chromium.browser.newPage();
    await page.goto(chromium.address.replace("fake.html", "plain.css"));
    await page.evaluate(() => (document.body.appendChild(document.createElement("cellar-grid")).frozenRows = 2));
    await page.addScriptTag({ url: "/build/cellar-grid.js", type: "module" });
    const found = () => page.evaluate(() => Object.keys(document.querySelector("cellar-grid")!));
    await expect.poll(found).not.toContain("frozenRows");
    expect(await page.evaluate(() => document.querySelector("cellar-grid")!.frozenRows)).toBe(2);
    await page.close();
  });

  test("a step of width for a thousand columns is kept once", async () => {
    const page = await chromium.open();
    await goTo(page, "ZZZ1");
    await page.keyboard.press("Control+a");
    const saved = await withGrid(page, (grid) => {
      const saved: number[] = [];
      grid.columnWidths = { load: () => [], save: (_sheet, widths) => saved.push(widths.length) };
      const key = new KeyboardEvent("keydown", { key: "ArrowRight", altKey: true, shiftKey: true, bubbles: true });
      grid.shadowRoot!.querySelector(".editor")!.dispatchEvent(key);
      return saved;
    }, null);
    expect(saved).toEqual([1_000]);
    await page.close();
  });
});
