import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { OtherSelection } from "../../src/data/types";
import { goTo, hasBrowser, row, startGridBrowser, withGrid, type GridBrowser } from "./grid-page";

let chromium: GridBrowser;

const ADA: OtherSelection = { client: "a1", author: "ada@example.com", sheet: 1, firstRow: 4, rowCount: 1, firstColumn: 2, columnCount: 1, moves: 1 };
const GRACE: OtherSelection = { ...ADA, client: "b2", author: "Grace", firstRow: 9, rowCount: 3 };

const show = (page: Page, ...others: OtherSelection[]) => withGrid(page, ({ source }, others) => source.setOthers(others), others);
const cursors = (page: Page) => page.locator(".other:visible");
const nameOf = (page: Page, text: string) => page.locator(".other-name", { hasText: text });
const opacity = (page: Page, text: string) => nameOf(page, text).evaluate((label) => getComputedStyle(label).opacity);

describe.skipIf(!hasBrowser)("selections of others", { timeout: 60_000 }, () => {
  beforeAll(async () => {
    chromium = await startGridBrowser();
  }, 60_000);
  afterAll(() => chromium?.close());

  test("are drawn over their cells in different colors, with a name that fades", async () => {
    const page = await chromium.open({ reducedMotion: "reduce" });
    await row(page, "5").waitFor();
    await show(page, ADA, GRACE);
    await cursors(page).nth(1).waitFor();
    const box = (await cursors(page).first().boundingBox())!;
    const cell = (await row(page, "5").boundingBox())!;
    expect(Math.abs(box.y + box.height - (cell.y + cell.height))).toBeLessThanOrEqual(1);
    const colors = await cursors(page).evaluateAll((all) => all.map((one) => getComputedStyle(one).borderTopColor));
    expect(new Set(colors).size).toBe(2);
    expect(await opacity(page, "ada")).toBe("1");
    await expect.poll(() => opacity(page, "ada"), { timeout: 6_000 }).toBe("0");
    await page.mouse.move(box.x + 20, box.y + 10);
    await expect.poll(() => opacity(page, "ada")).toBe("1");
    expect(await opacity(page, "Grace")).toBe("0");
    await page.mouse.move(box.x + 300, box.y + 300);
    await expect.poll(() => opacity(page, "ada")).toBe("0");
    await show(page, { ...ADA, firstRow: 6, moves: 2 }, GRACE);
    await expect.poll(() => opacity(page, "ada")).toBe("1");
    expect(await opacity(page, "Grace")).toBe("0");
    await show(page);
    await expect.poll(() => page.locator(".other").count()).toBe(0);
    await page.close();
  });

  test("leave the active cell readable, and an open text above all", async () => {
    const page = await chromium.open();
    await goTo(page, "C4");
    await show(page, ADA);
    await nameOf(page, "ada").waitFor();
    const label = (await nameOf(page, "ada").boundingBox())!;
    const active = (await page.locator(".active-cell").boundingBox())!;
    // There is no room above: that is the active cell.
    expect(label.y).toBeGreaterThanOrEqual(active.y + active.height);
    await show(page, { ...ADA, firstRow: 3, moves: 2 });
    await page.keyboard.type("mine");
    const editor = page.locator(".editor.open");
    const isOnTop = await editor.evaluate((element) => {
      const { x, y } = element.getBoundingClientRect();
      return (element.getRootNode() as ShadowRoot).elementFromPoint(x + 1, y + 1) === element;
    });
    expect(isOnTop).toBe(true);
    await page.keyboard.press("Escape");
    await page.close();
  });

  test("are listed as text, spoken at their cell, and shown as a dot at their sheet", async () => {
    const page = await chromium.open();
    const people = page.locator(".people");
    await show(page, ADA, { ...GRACE, sheet: 2 });
    await expect.poll(() => people.textContent()).toBe("ada and Grace are here");
    expect(await people.getAttribute("role")).toBe("status");
    const tab = page.getByRole("tab", { name: "Empty" });
    expect(await tab.getAttribute("class")).toBe("occupied");
    expect(await tab.getAttribute("title")).toBe("Grace is here");
    expect(await page.getByRole("tab", { name: "Readings" }).getAttribute("title")).toBeNull();
    await goTo(page, "C5");
    await expect.poll(() => page.locator("[aria-live]").first().textContent()).toContain("selected by ada");
    await tab.click();
    await expect.poll(() => page.getByRole("tab", { name: "Readings" }).getAttribute("title")).toBe("ada is here");
    await show(page);
    await expect.poll(() => people.isVisible()).toBe(false);
    expect(await page.locator(".occupied").count()).toBe(0);
    await page.close();
  });

  test("the own selection is reported when it changes, also a whole column, and when the source is replaced", async () => {
    const page = await chromium.open();
    await expect.poll(() => withGrid(page, ({ source }) => source.announced.length, null)).toBe(1);
    await goTo(page, "B2:C9");
    await page.keyboard.press("Control+Space");
    const last = () => withGrid(page, ({ source }) => source.announced[source.announced.length - 1], null);
    await expect.poll(last).toEqual({ sheet: 1, firstRow: 0, rowCount: 2 ** 30, firstColumn: 1, columnCount: 2 });
    expect(await withGrid(page, ({ source }) => source.announced.length, null)).toBe(3);
    const after = await withGrid(page, (grid) => {
      const { source } = grid;
      (grid as { source: unknown }).source = null;
      return source.announced.at(-1);
    }, null);
    expect(after).toBeNull();
    await page.close();
  });

  test("are drawn in the colors of the system if it forces them", async () => {
    const page = await chromium.open({ forcedColors: "active" });
    await show(page, ADA);
    await cursors(page).first().waitFor();
    const [border, text] = await page.evaluate(() => {
      const root = document.querySelector("cellar-grid")!.shadowRoot!;
      const text = getComputedStyle(root.querySelector(".status")!).color;
      return [getComputedStyle(root.querySelector(".other")!).borderTopColor, text];
    });
    expect(border).toBe(text);
    await page.close();
  });
});
