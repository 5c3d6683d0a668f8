import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cell, focused, formula, goTo, hasBrowser, name, notice, startGridBrowser, withGrid, type GridBrowser } from "./grid-page";

let chromium: GridBrowser;

const typed = (page: Page) => page.locator(".editor").inputValue();
const references = (page: Page) => page.locator(".mirror:visible").first().locator("span.color").allTextContents();
const marks = (page: Page) => page.locator(".mark.reference:visible").count();

/** Returns the middle of a cell in the window. */
async function place(page: Page, address: string): Promise<[number, number]> {
  const [, letters = "", number = ""] = /([A-Z]+)(\d+)/.exec(address)!;
  const column = (await page.locator(`.column[aria-colindex="${letters.charCodeAt(0) - 63}"]`).boundingBox())!;
  const row = (await page.locator(".row:visible .row-header", { hasText: new RegExp(`^${number}$`) }).boundingBox())!;
  return [column.x + column.width / 2, row.y + row.height / 2];
}

async function click(page: Page, address: string, modifier?: "Shift" | "Control"): Promise<void> {
  if (modifier) await page.keyboard.down(modifier);
  await page.mouse.click(...(await place(page, address)));
  if (modifier) await page.keyboard.up(modifier);
}

describe.skipIf(!hasBrowser)("writing a formula", { timeout: 60_000 }, () => {
  beforeAll(async () => {
    chromium = await startGridBrowser();
  }, 60_000);
  afterAll(() => chromium?.close());

  test("references have the color of their cells, in the cell and in the bar", async () => {
    const page = await chromium.open();
    await goTo(page, "N2");
    await page.keyboard.type("=C2*SUM(D3:E5)+$C$2&\"A1\"");
    await expect.poll(() => references(page)).toEqual(["C2", "D3:E5", "$C$2"]);
    await expect.poll(() => marks(page)).toBe(2);
    const colors = await page.locator(".mirror:visible").first().locator("span.color").evaluateAll((all) => all.map((one) => getComputedStyle(one).color));
    expect(colors[0]).toBe(colors[2]);
    expect(colors[0]).not.toBe(colors[1]);
    expect(await page.locator(".mirror:visible").count()).toBe(2);
    const outline = await page.locator(".mark.reference:visible").evaluateAll((all) => all.map((one) => getComputedStyle(one).borderLeftColor));
    expect(outline.sort()).toEqual([...new Set(colors)].sort());
    await page.keyboard.press("Enter");
    await expect.poll(() => marks(page)).toBe(0);
    await expect.poll(() => cell(page, 1, 13)).toBe("=C2*SUM(D3:E5)+$C$2&\"A1\"");
    await page.close();
  });

  test("the colored text lies exactly over the text of the field", async () => {
    const page = await chromium.open();
    await goTo(page, "C4");
    const long = `=SUM(${Array.from({ length: 60 }, (_, index) => `B${index + 1}:C${index + 9}`).join(", ")})`;
    await page.keyboard.type(long.slice(0, 1));
    await page.locator(".editor").evaluate((field: HTMLTextAreaElement, text) => {
      field.value = text;
      field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    }, long);
    for (const kind of ["cell", "bar"]) {
      if (kind === "bar") await page.locator(".formula").click();
      const field = page.locator(kind === "bar" ? ".formula" : ".editor");
      await expect.poll(() => field.evaluate((one) => one.classList.contains("mirrored"))).toBe(true);
      await field.press("Control+End");
      const sizes = await field.evaluate((one: HTMLTextAreaElement) => {
        const mirror = one.nextElementSibling as HTMLElement;
        const [a, b] = [one, mirror].map((element) => element.getBoundingClientRect());
        return {
          scroll: [one.scrollTop, mirror.scrollTop], heights: [one.scrollHeight, mirror.scrollHeight], tops: [a!.top, b!.top], lefts: [a!.left, b!.left],
          fonts: [getComputedStyle(one).font, getComputedStyle(mirror).font], value: one.value.length,
        };
      });
      expect(sizes.value).toBe(long.length);
      for (const pair of [sizes.scroll, sizes.heights, sizes.tops, sizes.lefts, sizes.fonts]) expect(pair[1]).toEqual(pair[0]);
    }
    await page.close();
  });

  test("a text of one line has one line, and no scrollbar", async () => {
    const page = await chromium.open();
    await goTo(page, "F12");
    await page.keyboard.type("=IF(SUM(C2:D4,\"a\",B2)>C9,su");
    await expect.poll(() => page.locator(".editor").evaluate((one: HTMLElement) => [one.offsetHeight <= 26, one.scrollTop, one.offsetWidth - one.clientWidth])).toEqual([true, 0, 4]);
    await page.close();
  });

  test("clicks and drags write references", async () => {
    const page = await chromium.open();
    await goTo(page, "F12");
    await page.keyboard.type("=SUM(");
    await click(page, "C3");
    await expect.poll(() => typed(page)).toBe("=SUM(C3");
    await click(page, "D4");
    await expect.poll(() => typed(page)).toBe("=SUM(D4");
    await page.mouse.move(...(await place(page, "C5")));
    await page.mouse.down();
    await page.mouse.move(...(await place(page, "D8")), { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => typed(page)).toBe("=SUM(C5:D8");
    await click(page, "E9", "Shift");
    await expect.poll(() => typed(page)).toBe("=SUM(C5:E9");
    await click(page, "B2", "Control");
    await expect.poll(() => typed(page)).toBe("=SUM(C5:E9,B2");
    await page.keyboard.type(",");
    await page.locator('.column[aria-colindex="4"]').click();
    await page.keyboard.type(")");
    await page.keyboard.press("Enter");
    await expect.poll(() => cell(page, 11, 5)).toBe("=SUM(C5:E9,B2,C:C)");
    await page.close();
  });

  test("a click where no reference is allowed stores the text and selects", async () => {
    const page = await chromium.open();
    await goTo(page, "F12");
    await page.keyboard.type("=1+2");
    await click(page, "C3");
    await expect.poll(() => cell(page, 11, 5)).toBe("=1+2");
    await expect.poll(() => name(page)).toBe("C3");
    await page.close();
  });

  test("arrow keys point, F4 changes the reference, and Enter stores the formula", async () => {
    const page = await chromium.open();
    await goTo(page, "F12");
    await page.keyboard.type("=");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => typed(page)).toBe("=E11");
    await page.keyboard.press("F4");
    await expect.poll(() => typed(page)).toBe("=$E$11");
    await page.keyboard.type("*");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Shift+ArrowDown");
    await page.keyboard.press("Shift+ArrowDown");
    await expect.poll(() => typed(page)).toBe("=$E$11*G12:G14");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.type("+5");
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => cell(page, 11, 5)).toBe("=$E$11*G11+5");
    await expect.poll(() => name(page)).toBe("F13");
    await page.close();
  });

  test("F2 lets the arrow keys move the caret", async () => {
    const page = await chromium.open();
    await goTo(page, "F12");
    await page.keyboard.type("=");
    await page.keyboard.press("F2");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => typed(page)).toBe("=");
    await page.keyboard.press("Escape");
    await page.close();
  });

  test("the bar keeps the focus while cells are pointed at", async () => {
    const page = await chromium.open();
    await goTo(page, "F12");
    await page.locator(".formula").click();
    await page.keyboard.press("Control+a");
    await page.keyboard.type("=MAX(");
    await click(page, "C9");
    await page.keyboard.press("Shift+ArrowDown");
    expect(await focused(page)).toContain("formula");
    await page.keyboard.type(")");
    expect(await formula(page)).toBe("=MAX(C9:C10)");
    await page.keyboard.press("Enter");
    await expect.poll(() => cell(page, 11, 5)).toBe("=MAX(C9:C10)");
    await page.close();
  });

  test("the text in the bar stays with its cell while others insert rows", async () => {
    const page = await chromium.open();
    await goTo(page, "F12");
    await page.locator(".formula").fill("=MAX(C9)");
    await withGrid(page, (grid) => grid.source.insertRows(2, 3), null);
    await page.locator(".formula").press("Enter");
    await expect.poll(() => cell(page, 14, 5)).toBe("=MAX(C9)");
    await goTo(page, "F20");
    await page.locator(".formula").fill("kept");
    await withGrid(page, (grid) => grid.source.deleteRows(19, 1), null);
    await notice(page, "F20 was deleted while you edited it. Your text was: kept").waitFor();
    await page.close();
  });

  test("an input method writes into a formula", async () => {
    const page = await chromium.open();
    await goTo(page, "F12");
    await page.keyboard.type("=A1&\"");
    const session = await page.context().newCDPSession(page);
    await session.send("Input.imeSetComposition", { text: "に", selectionStart: 1, selectionEnd: 1 });
    await expect.poll(() => page.locator(".editor").evaluate((one) => one.classList.contains("mirrored"))).toBe(false);
    await session.send("Input.insertText", { text: "日本" });
    await expect.poll(() => page.locator(".editor").evaluate((one) => one.classList.contains("mirrored"))).toBe(true);
    await page.keyboard.type("\"");
    await page.keyboard.press("Enter");
    await expect.poll(() => cell(page, 11, 5)).toBe("=A1&\"日本\"");
    await page.close();
  });

  test("a tap writes a reference", async () => {
    const page = await chromium.open({ viewport: { width: 700, height: 700 }, hasTouch: true });
    await goTo(page, "F12");
    await page.keyboard.type("=");
    await page.touchscreen.tap(...(await place(page, "C3")));
    await expect.poll(() => typed(page)).toBe("=C3");
    await page.close();
  });

  describe("that names cells of another sheet", () => {
    const tab = (page: Page, label: string) => page.getByRole("tab", { name: label, exact: true });
    const shown = (page: Page) => page.getByRole("tab", { selected: true }).textContent();
    const inSheets = (page: Page, row: number, column: number) =>
      withGrid(page, ({ source }, [row, column]) => {
        const { sheet } = source;
        const texts = source.sheets.map((info) => {
          source.sheet = info.sheet;
          return source.cellAt(row!, column!)?.formula ?? "";
        });
        source.sheet = sheet;
        return texts;
      }, [row, column]);

    test.each(["cell", "bar"])("a click on its tab inserts a reference, and Enter returns, in the %s", async (where) => {
      const page = await chromium.open();
      await withGrid(page, ({ source }) => source.renameSheet(2, "My costs"), null);
      await goTo(page, "N2");
      if (where === "bar") await page.locator(".formula").click();
      const field = page.locator(where === "bar" ? ".formula" : ".editor");
      await page.keyboard.type("=SUM(");
      await tab(page, "My costs").click();
      await expect.poll(() => field.inputValue()).toBe("=SUM('My costs'!A1");
      await expect.poll(() => shown(page)).toBe("My costs");
      expect(await focused(page)).toContain(where === "bar" ? "formula" : "editor");
      await expect.poll(() => marks(page)).toBe(1);
      await click(page, "B3");
      await page.keyboard.down("Shift");
      await page.mouse.click(...(await place(page, "C4")));
      await page.keyboard.up("Shift");
      await expect.poll(() => field.inputValue()).toBe("=SUM('My costs'!B3:C4");
      await page.keyboard.type(")+");
      // Back in the own sheet, references have no name of a sheet.
      await tab(page, "Readings").click();
      await expect.poll(() => shown(page)).toBe("Readings");
      await click(page, "C2");
      await expect.poll(() => field.inputValue()).toBe("=SUM('My costs'!B3:C4)+C2");
      await page.keyboard.type("+");
      await tab(page, "My costs").click();
      await page.keyboard.press("Enter");
      await expect.poll(() => shown(page)).toBe("Readings");
      expect(await inSheets(page, 1, 13)).toEqual(["SUM('My costs'!B3:C4)+C2+'My costs'!A1", ""]);
      await expect.poll(() => name(page)).toBe("N3");
      await page.close();
    });

    test("arrow keys and F4 change the reference, and Escape returns without an edit", async () => {
      const page = await chromium.open();
      await goTo(page, "N2");
      await page.keyboard.type("=");
      await tab(page, "Empty").click();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("F4");
      await expect.poll(() => typed(page)).toBe("=Empty!$B$2");
      // No reference is allowed here, and the press does not store the text.
      await page.keyboard.type("+1");
      await click(page, "D5");
      expect(await typed(page)).toBe("=Empty!$B$2+1");
      await page.keyboard.press("Escape");
      await expect.poll(() => shown(page)).toBe("Readings");
      expect(await inSheets(page, 1, 13)).toEqual(["", ""]);
      await expect.poll(() => name(page)).toBe("N2");
      await page.close();
    });

    test("the cell that was pointed at is dropped on the way back, and a text continues in the bar", async () => {
      const page = await chromium.open();
      await goTo(page, "N2");
      await page.keyboard.type("=1+");
      await tab(page, "Empty").click();
      await expect.poll(() => typed(page)).toBe("=1+Empty!A1");
      await tab(page, "Readings").click();
      await expect.poll(() => typed(page)).toBe("=1+");
      await tab(page, "Empty").click();
      await page.locator(".formula").click();
      await page.keyboard.press("End");
      await page.keyboard.type("*2");
      await page.keyboard.press("Enter");
      await expect.poll(() => shown(page)).toBe("Readings");
      expect(await inSheets(page, 1, 13)).toEqual(["1+Empty!A1*2", ""]);
      await page.close();
    });

    test("a text that is no formula is stored when another sheet is chosen", async () => {
      const page = await chromium.open();
      await goTo(page, "N2");
      await page.keyboard.type("not lost");
      await tab(page, "Empty").click();
      await tab(page, "Readings").click();
      await expect.poll(() => cell(page, 1, 13)).toBe("not lost");
      await page.close();
    });

    test("who may not edit looks at a formula, and chooses another sheet", async () => {
      const page = await chromium.open();
      await goTo(page, "N2");
      await page.keyboard.type("=C2");
      await page.keyboard.press("Enter");
      await withGrid(page, ({ source }) => source.setStatus({ role: "viewer" }), null);
      await goTo(page, "N2");
      await page.locator(".formula").click();
      await tab(page, "Empty").click();
      await expect.poll(() => shown(page)).toBe("Empty");
      await expect.poll(() => formula(page)).toBe("");
      await page.close();
    });

    test("the text is kept for the user if the sheet of the formula is deleted meanwhile", async () => {
      const page = await chromium.open();
      await goTo(page, "N2");
      await page.keyboard.type("=2*");
      await tab(page, "Empty").click();
      await withGrid(page, ({ source }) => source.deleteSheet(1), null);
      await page.keyboard.press("Enter");
      await notice(page, "N2 was deleted while you edited it. Your text was: =2*Empty!A1").waitFor();
      expect(await withGrid(page, ({ source }) => source.log.filter((line) => line.startsWith("setCells")), null)).toEqual([]);
      await page.close();
    });
  });
});
