import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { goTo, hasBrowser, notice, startGridBrowser, type GridBrowser } from "./grid-page";

let chromium: GridBrowser;

const described = (page: Page) =>
  page.evaluate(() => {
    const root = document.querySelector("cellar-grid")!.shadowRoot!;
    const ids = root.querySelector(".editor")!.getAttribute("aria-describedby")!.split(" ");
    return ids.map((id) => root.getElementById(id)?.textContent ?? `missing ${id}`).join(" ");
  });
const marks = (page: Page, kind: string) => page.locator(`.mark.${kind}:visible`).count();

async function open(): Promise<Page> {
  const page = await chromium.open();
  await page.goto(new URL("formulas.html", page.url()).href);
  await page.locator(".cell", { hasText: "Column 1" }).first().waitFor();
  return page;
}

describe.skipIf(!hasBrowser)("formulas explain themselves", { timeout: 60_000 }, () => {
  beforeAll(async () => {
    chromium = await startGridBrowser();
  }, 60_000);
  afterAll(() => chromium?.close());

  test("the reason of an error is shown at the active cell, and described for screen readers", async () => {
    const page = await open();
    const tip = page.locator(".formula-tip");
    await goTo(page, "N2");
    await expect.poll(() => tip.textContent()).toContain("The formula divides by zero or by a blank cell.");
    expect(await described(page)).toContain("divides by zero");
    const cell = (await page.locator(".active-cell").boundingBox())!;
    const box = (await tip.boundingBox())!;
    expect(box.y).toBeGreaterThanOrEqual(cell.y + cell.height);
    expect(box.y).toBeLessThan(cell.y + cell.height + 12);
    await page.keyboard.press("Escape");
    await expect.poll(() => tip.isVisible()).toBe(false);
    await goTo(page, "N5");
    await expect.poll(() => tip.textContent()).toContain("Stale: this value was not calculated after the last change.");
    await expect.poll(() => page.locator(".cell.stale", { hasText: "12*" }).getAttribute("title")).toContain("Stale");
    await goTo(page, "C3");
    await expect.poll(() => tip.isVisible()).toBe(false);
    expect(await described(page)).toMatch(/^Arrow keys/);
    await page.close();
  });

  test("a filled cell shows the formula that fills it", async () => {
    const page = await open();
    await goTo(page, "G7");
    await expect.poll(() => page.locator(".formula-tip").textContent()).toContain("Filled by the formula in G5.\n=SEQUENCE(6)");
    await page.close();
  });

  test("F9 marks precedents and dependents, follows the active cell, and names them", async () => {
    const page = await open();
    await goTo(page, "N6");
    await page.keyboard.press("F9");
    await notice(page, "Precedents: C2:C9, D2. Dependents: O7").waitFor();
    await expect.poll(() => marks(page, "precedent")).toBe(2);
    await expect.poll(() => marks(page, "dependent")).toBe(1);
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => marks(page, "precedent")).toBe(0);
    await expect.poll(() => marks(page, "dependent")).toBe(1);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("F2");
    await expect.poll(() => marks(page, "reference")).toBe(2);
    expect(await marks(page, "dependent")).toBe(0);
    await page.keyboard.press("Escape");
    await expect.poll(() => marks(page, "dependent")).toBe(1);
    await page.keyboard.press("Shift+F10");
    await page.getByRole("menuitem", { name: "Precedents and dependents" }).click();
    await expect.poll(() => marks(page, "dependent")).toBe(0);
    await page.close();
  });

  test("a source that knows no dependents says so", async () => {
    const page = await chromium.open();
    await goTo(page, "E4");
    await page.keyboard.press("F9");
    await notice(page, "Precedents: C4. Dependents: none. Dependents are not known here").waitFor();
    await page.close();
  });
});
