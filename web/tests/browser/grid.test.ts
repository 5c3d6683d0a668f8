import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { focused, formula, goTo, hasBrowser, LAST_ROW, name, pause, row, startGridBrowser, topRow, withGrid, type GridBrowser } from "./grid-page";

let chromium: GridBrowser;

describe.skipIf(!hasBrowser)("cellar-grid in Chromium", { timeout: 60_000 }, () => {
  beforeAll(async () => {
    chromium = await startGridBrowser();
  }, 60_000);
  afterAll(() => chromium?.close());

  const open = (options?: BrowserContextOptions) => chromium.open(options);
  const focusGrid = (page: Awaited<ReturnType<typeof open>>) => page.mouse.click(100, 100);

  test.each([0.5, 0.67, 1.1, 2])("reaches the last row and the first at zoom %d", async (zoom) => {
    // Page zoom: fewer or more CSS pixels of another device pixel ratio.
    const page = await open({ viewport: { width: Math.round(1280 / zoom), height: Math.round(800 / zoom) }, deviceScaleFactor: zoom });
    await page.evaluate(() => {
      const scroller = document.querySelector("cellar-grid")!.shadowRoot!.querySelector(".scroller")!;
      scroller.dispatchEvent(new PointerEvent("pointerdown", { clientX: innerWidth - 2, clientY: 200 }));
      scroller.scrollTop = scroller.scrollHeight;
    });
    await row(page, LAST_ROW).waitFor();
    const box = (await row(page, LAST_ROW).boundingBox())!;
    const view = (await page.locator(".viewport").boundingBox())!;
    expect(box.y + box.height).toBeLessThanOrEqual(view.y + view.height + 1);
    await page.mouse.move(200, 200);
    await pause(page, 300);
    await page.mouse.wheel(0, -2_400);
    await row(page, String(2 ** 30 - 105)).waitFor();
    await page.mouse.wheel(0, 2_600);
    await row(page, LAST_ROW).waitFor();
    await focusGrid(page);
    await page.keyboard.press("Control+Home");
    await row(page, "1").waitFor();
    await page.close();
  });

  test("reaches the last row by keyboard and by going to it; edits it", async () => {
    const page = await open();
    await focusGrid(page);
    await page.keyboard.press("Control+End");
    await row(page, LAST_ROW).waitFor();
    expect(await page.locator("[aria-live]").textContent()).toContain("row 1,073,741,824 of 1,073,741,824");
    await goTo(page, "B1000000");
    await row(page, "1000000").waitFor();
    await goTo(page, LAST_ROW);
    await row(page, LAST_ROW).waitFor();
    await page.keyboard.type("hello");
    await page.keyboard.press("Enter");
    await page.locator(".cell.pending", { hasText: "hello" }).waitFor();
    expect(await page.locator(".status").textContent()).toContain("1 edit not sent, oldest 4 s");
    await page.close();
  });

  test("dragging the scrollbar with the mouse scales, the wheel does not", async () => {
    const page = await open();
    const view = (await page.locator(".scroller").boundingBox())!;
    await page.mouse.move(view.x + view.width - 5, view.y + 24);
    await page.mouse.down();
    await page.mouse.move(view.x + view.width - 5, view.y + view.height / 2, { steps: 4 });
    await page.mouse.up();
    const top = () => topRow(page);
    await expect.poll(top).toBeGreaterThan(1e8);
    await page.mouse.move(300, 300);
    await pause(page, 400);
    const before = await top();
    await page.mouse.wheel(0, 240);
    await expect.poll(async () => (await top()) - before).toBe(10);
    await page.close();
  });

  test("copies and pastes, keeps formulas relative, and treats foreign formulas as text", async () => {
    const page = await open({ permissions: ["clipboard-read", "clipboard-write"] });
    await goTo(page, "N2");
    await page.keyboard.type("=C2*2");
    await page.keyboard.press("Enter");
    await goTo(page, "M2:N2");
    await page.keyboard.press("Control+c");
    await goTo(page, "M5");
    await page.keyboard.press("Control+v");
    await goTo(page, "N5");
    await expect.poll(() => formula(page)).toBe("=C5*2");
    await page.evaluate(() => navigator.clipboard.writeText("=HYPERLINK(1)\t007\r\n"));
    await goTo(page, "P1");
    await page.keyboard.press("Control+v");
    await page.locator(".notice", { hasText: "pasted as text" }).waitFor();
    await expect.poll(() => formula(page)).toBe("'=HYPERLINK(1)");
    await page.close();
  });

  test("types, edits with F2, cancels, and composes with an input method", async () => {
    const page = await open();
    await goTo(page, "B2");
    await page.keyboard.type("abc");
    await page.keyboard.press("ArrowRight");
    await goTo(page, "B2");
    await page.keyboard.press("F2");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.type("X");
    await page.keyboard.press("Enter");
    await goTo(page, "B2");
    await expect.poll(() => formula(page)).toBe("abXc");
    await page.keyboard.type("gone");
    await page.keyboard.press("Escape");
    await expect.poll(() => formula(page)).toBe("abXc");
    const session = await page.context().newCDPSession(page);
    await session.send("Input.imeSetComposition", { text: "に", selectionStart: 1, selectionEnd: 1 });
    await session.send("Input.insertText", { text: "日本" });
    await page.keyboard.press("Enter");
    await goTo(page, "B2");
    await expect.poll(() => formula(page)).toBe("日本");
    await page.keyboard.press("Delete");
    await expect.poll(() => formula(page)).toBe("");
    await page.close();
  });

  test("a composition that Enter ends stays in its cell, and one that is cancelled leaves nothing", async () => {
    const page = await open();
    const session = await page.context().newCDPSession(page);
    const compose = (text: string) => session.send("Input.imeSetComposition", { text, selectionStart: text.length, selectionEnd: text.length });
    await goTo(page, "P3");
    for (const text of ["ㅎ", "하", "한"]) await compose(text);
    // The key that ends a composition has the code 229 and is no command.
    await session.send("Input.dispatchKeyEvent", { type: "rawKeyDown", key: "Enter", code: "Enter", windowsVirtualKeyCode: 229 });
    await session.send("Input.insertText", { text: "한" });
    expect(await name(page)).toBe("P3");
    await page.keyboard.type("글");
    await page.keyboard.press("Enter");
    await expect.poll(() => name(page)).toBe("P4");
    await goTo(page, "P3");
    await expect.poll(() => formula(page)).toBe("한글");
    await goTo(page, "P9");
    await compose("に");
    await compose("");
    await page.keyboard.press("Escape");
    await expect.poll(() => formula(page)).toBe("");
    expect(await withGrid(page, (grid) => grid.source.log.length, null)).toBe(1);
    await page.close();
  });

  test("resizes a column with the mouse and by keyboard", async () => {
    const page = await open();
    const width = () => page.locator('.column[aria-colindex="3"]').evaluate((one) => (one as HTMLElement).offsetWidth);
    const box = (await page.locator('.column[aria-colindex="3"] .resize').boundingBox())!;
    await page.mouse.move(box.x + 5, box.y + 5);
    await page.mouse.down();
    await page.mouse.move(box.x + 65, box.y + 5, { steps: 3 });
    await page.mouse.up();
    await expect.poll(width).toBe(160);
    await goTo(page, "B3");
    await page.keyboard.press("Alt+Shift+ArrowLeft");
    await expect.poll(width).toBe(152);
    await page.close();
  });

  test("Tab moves between cells, and leaves the grid after Escape", async () => {
    const page = await open();
    await goTo(page, "B2");
    await page.keyboard.press("Tab");
    await expect.poll(() => name(page)).toBe("C2");
    expect(await focused(page)).toContain("editor");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    expect(await focused(page)).not.toContain("editor");
    await page.close();
  });

  test("keeps the active cell and the row under the eye where they are", async () => {
    const page = await open();
    await goTo(page, LAST_ROW);
    await row(page, LAST_ROW).waitFor();
    await page.setViewportSize({ width: 1280, height: 400 });
    await expect.poll(async () => (await row(page, LAST_ROW).boundingBox())!.y).toBeLessThan(340);
    const numbers = await page.locator(".row:visible .row-header").allTextContents();
    expect(new Set(numbers).size).toBe(numbers.length);
    const names = await page.locator(".column:visible").allTextContents();
    expect(new Set(names).size).toBe(names.length);
    await goTo(page, "5000:5003");
    await goTo(page, "B40");
    await page.mouse.move(300, 200);
    await page.mouse.wheel(0, 2_400);
    await row(page, "140").waitFor();
    const before = (await row(page, "140").boundingBox())!.y;
    await page.keyboard.press("Shift+F10");
    await page.getByRole("menuitem", { name: "Insert row above" }).click();
    await expect.poll(async () => (await row(page, "141").boundingBox())?.y).toBe(before);
    await page.close();
  });

  test("a tap selects, a second tap edits, and a swipe scrolls one to one", async () => {
    const page = await open({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    const editor = page.locator(".editor");
    await page.touchscreen.tap(200, 200);
    await expect.poll(() => editor.getAttribute("inputmode")).toBe("none");
    await page.touchscreen.tap(200, 200);
    await expect.poll(() => editor.getAttribute("class")).toContain("open");
    await page.keyboard.press("Escape");
    const session = await page.context().newCDPSession(page);
    const touch = (type: "touchStart" | "touchMove" | "touchEnd", y?: number) =>
      session.send("Input.dispatchTouchEvent", { type, touchPoints: y === undefined ? [] : [{ x: 200, y }] });
    await touch("touchStart", 500);
    for (let y = 480; y >= 260; y -= 20) await touch("touchMove", y);
    await touch("touchEnd");
    await expect.poll(() => topRow(page)).toBeGreaterThanOrEqual(9);
    // The scrollbar of a long sheet is scaled; a finger is not, nor is its inertia.
    await pause(page, 400);
    const difference = () =>
      page.locator(".scroller").evaluate((scroller) => {
        const shown = [...scroller.querySelectorAll<HTMLElement>(".row:not([hidden]) .row-header")].map((one) => Number(one.textContent));
        return Math.min(...shown) - 1 - Math.floor(scroller.scrollTop / 24);
      });
    await expect.poll(difference).toBe(0);
    await page.close();
  });

  test.each(["light", "dark"] as const)("has no serious accessibility problem in %s colors", async (colorScheme) => {
    const page = await open({ colorScheme });
    await withGrid(page, (grid) => {
      const area = { sheet: 1, rowCount: 1, columnCount: 1, label: "Ada" };
      const kinds = ["changed", "precedent", "dependent", "reference", "found", "person"] as const;
      grid.marks = kinds.map((kind, index) => ({ ...area, kind, color: index, firstRow: 12 + index, firstColumn: index }));
      grid.frozenRows = 1;
    }, null);
    await goTo(page, "C3:D9");
    await page.keyboard.press("Control+f");
    await page.keyboard.type("station 5");
    await page.locator(".find-count", { hasText: "found" }).waitFor();
    await pause(page, 300);
    const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
    await page.evaluate(axe);
    const violations = () => page.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[] }> } };
      return (await axe.run()).violations.map(({ id, impact, nodes }) => ({ id, impact, node: nodes[0]?.html, summary: nodes[0]?.failureSummary }));
    });
    const serious = () => violations().then((all) => all.filter(({ impact }) => impact === "serious" || impact === "critical"));
    expect(await serious()).toEqual([]);
    await page.getByRole("tab", { name: "Empty" }).focus();
    await page.keyboard.press("Delete");
    await page.getByRole("alertdialog").waitFor();
    expect(await serious()).toEqual([]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Shift+F10");
    await page.getByRole("menuitem", { name: "Rename" }).waitFor();
    expect(await serious()).toEqual([]);
    await page.close();
  });
});
