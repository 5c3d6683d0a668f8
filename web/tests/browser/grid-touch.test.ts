import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { goTo, hasBrowser, name, pause, startGridBrowser, topRow, withGrid, type GridBrowser } from "./grid-page";

let chromium: GridBrowser;
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

async function touchOf(page: Page) {
  const session = await page.context().newCDPSession(page);
  return (type: "touchStart" | "touchMove" | "touchEnd", x?: number, y?: number) =>
    session.send("Input.dispatchTouchEvent", { type, touchPoints: x === undefined || y === undefined ? [] : [{ x, y }] });
}

describe.skipIf(!hasBrowser)("narrow screens and colors", { timeout: 60_000 }, () => {
  beforeAll(async () => {
    chromium = await startGridBrowser();
  }, 60_000);
  afterAll(() => chromium?.close());

  test("a long press selects and opens the menu once; a short one does not", async () => {
    const page = await chromium.open(PHONE);
    const touch = await touchOf(page);
    await touch("touchStart", 200, 300);
    await page.getByRole("menuitem", { name: "Copy" }).waitFor();
    await touch("touchEnd");
    await pause(page, 200);
    expect(await page.getByRole("menu").count()).toBe(1);
    expect(await withGrid(page, (grid) => grid.source.log, null)).toEqual([]);
    expect(await page.locator(".editor.open").count()).toBe(0);
    const selected = await name(page);
    expect(selected).toMatch(/^[AB]\d+$/);
    await page.keyboard.press("Escape");
    await page.touchscreen.tap(120, 400);
    await pause(page, 700);
    expect(await page.getByRole("menu").count()).toBe(0);
    await expect.poll(() => name(page)).not.toBe(selected);
    await page.close();
  });

  test("a finger that scrolls opens no menu and selects nothing", async () => {
    const page = await chromium.open(PHONE);
    const before = await name(page);
    const touch = await touchOf(page);
    await touch("touchStart", 200, 600);
    for (let y = 590; y >= 300; y -= 10) await touch("touchMove", 200, y);
    await pause(page, 700);
    await touch("touchEnd");
    expect(await topRow(page)).toBeGreaterThan(8);
    expect(await page.getByRole("menu").count()).toBe(0);
    expect(await name(page)).toBe(before);
    await page.close();
  });

  test("nothing overflows, with a long summary, a problem and many sheets", async () => {
    const page = await chromium.open(PHONE);
    await withGrid(page, (grid) => {
      for (let number = 0; number < 20; number++) grid.source.addSheet(`A sheet with a long name ${number}`);
      grid.source.setStatus({ pending: 1_234, oldestPendingMs: 4e6, problem: "The server does not respond; edits are kept on this device and sent later", position: "123456.7890" });
    }, null);
    await goTo(page, "C2:L5000");
    await page.locator(".summary:visible").waitFor();
    const wide = await page.evaluate(() => {
      const root = document.querySelector("cellar-grid")!.shadowRoot!;
      const parts = [...root.querySelectorAll<HTMLElement>(".foot, .status, .status > *, .tab-bar, .tab-bar > :not([hidden]), .bar, .bar > *")];
      return parts.filter((part) => part.getBoundingClientRect().right > innerWidth + 0.5).map((part) => part.className);
    });
    expect(wide).toEqual([]);
    const view = (await page.locator(".viewport").boundingBox())!;
    expect(view.height).toBeGreaterThan(844 / 2);
    await page.close();
  });

  test("the selection is visible in forced colors", async () => {
    const page = await chromium.open({ forcedColors: "active" });
    await goTo(page, "C3:D9");
    await withGrid(page, (grid) => (grid.marks = [{ sheet: 1, kind: "found", firstRow: 2, rowCount: 1, firstColumn: 6, columnCount: 1 }]), null);
    await page.locator(".mark:visible").waitFor();
    const colors = await page.evaluate(() => {
      const root = document.querySelector("cellar-grid")!.shadowRoot!;
      const of = (selector: string) => getComputedStyle(root.querySelector(selector)!);
      return { canvas: of(".cell").backgroundColor, active: of(".active-cell").borderTopColor, range: of(".range").borderTopColor, mark: of(".mark").borderTopColor };
    });
    for (const color of [colors.active, colors.range, colors.mark]) {
      expect(color).not.toBe("rgba(0, 0, 0, 0)");
      expect(color).not.toBe(await page.evaluate(() => getComputedStyle(document.querySelector("cellar-grid")!).backgroundColor));
    }
    await page.close();
  });
});
