import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cell, goTo, hasBrowser, name, startGridBrowser, type GridBrowser } from "./grid-page";

let chromium: GridBrowser;

const typed = (page: Page) => page.locator(".editor").inputValue();
const options = (page: Page) => page.locator(".formula-option:visible > span:first-child").allTextContents();
const selected = (page: Page) => page.locator('.formula-option[aria-selected="true"]:visible > span:first-child').allTextContents();

async function open(): Promise<Page> {
  const page = await chromium.open();
  await page.goto(new URL("formulas.html", page.url()).href);
  await page.locator(".cell", { hasText: "Column 1" }).first().waitFor();
  return page;
}

describe.skipIf(!hasBrowser)("suggestions for a formula", { timeout: 60_000 }, () => {
  beforeAll(async () => {
    chromium = await startGridBrowser();
  }, 60_000);
  afterAll(() => chromium?.close());

  test("the list of functions is loaded with the first formula, and Tab accepts one", async () => {
    const page = await open();
    const loaded: string[] = [];
    page.on("request", (request) => loaded.push(request.url()));
    await goTo(page, "P2");
    await page.keyboard.type("sum");
    await page.keyboard.press("Escape");
    expect(loaded.filter((url) => url.includes("suggestions"))).toEqual([]);
    await page.keyboard.type("=sumi");
    await expect.poll(() => options(page)).toEqual(["SUMIF", "SUMIFS"]);
    expect(loaded.filter((url) => url.includes("suggestions")).length).toBe(1);
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => selected(page)).toEqual(["SUMIFS"]);
    const id = await page.locator(".editor").getAttribute("aria-activedescendant");
    expect(await page.locator(`#${id}`).textContent()).toContain("SUMIFS");
    await page.keyboard.press("Tab");
    await expect.poll(() => typed(page)).toBe("=SUMIFS(");
    await expect.poll(() => options(page)).toEqual([]);
    await page.close();
  });

  test("the argument that is written is bold", async () => {
    const page = await open();
    await goTo(page, "P2");
    await page.keyboard.type("=IF(A1>2,");
    await page.locator(".formula-call", { hasText: "IF(condition, [then], [else])" }).waitFor();
    await expect.poll(() => page.locator(".formula-call b").textContent()).toBe("[then]");
    await expect.poll(() => page.locator(".editor").getAttribute("aria-describedby")).toContain("formula-hint");
    await page.keyboard.type("SUM(1,2");
    await expect.poll(() => page.locator(".formula-call b").textContent()).toBe("number, …");
    await page.keyboard.type("),");
    await expect.poll(() => page.locator(".formula-call b").textContent()).toBe("[else]");
    await page.keyboard.type("3)");
    await page.keyboard.press("Enter");
    await expect.poll(() => cell(page, 1, 15)).toBe("=IF(A1>2,SUM(1,2),3)");
    await expect.poll(() => page.locator(".formula-popup").isVisible()).toBe(false);
    expect(await page.locator(".editor").getAttribute("aria-describedby")).not.toContain("formula-hint");
    await page.close();
  });

  test("Escape closes the list, then cancels; Enter after it stores what was typed", async () => {
    const page = await open();
    await goTo(page, "P2");
    await page.keyboard.type("=su");
    await expect.poll(() => selected(page)).toEqual(["SUBSTITUTE"]);
    await page.keyboard.press("Escape");
    await expect.poll(() => options(page)).toEqual([]);
    expect(await typed(page)).toBe("=su");
    await page.keyboard.press("Enter");
    await expect.poll(() => cell(page, 1, 15)).toBe("=su");
    await page.keyboard.type("=su");
    await expect.poll(() => selected(page)).toEqual(["SUBSTITUTE"]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await expect.poll(() => typed(page)).toBe("");
    await page.close();
  });

  test("names and sheets are suggested, and a whole name is stored by Enter", async () => {
    const page = await open();
    await goTo(page, "P2");
    await page.keyboard.type("=2*tax");
    await expect.poll(() => options(page)).toEqual(["tax_rate"]);
    await page.keyboard.press("Enter");
    await expect.poll(() => typed(page)).toBe("=2*tax_rate");
    await page.keyboard.type("+Empt");
    await page.locator(".formula-option", { hasText: "Empty" }).click();
    await expect.poll(() => typed(page)).toBe("=2*tax_rate+Empty!");
    await page.keyboard.type("A1+total");
    await expect.poll(() => options(page)).toEqual(["SUBTOTAL", "Total"]);
    await page.keyboard.press("Enter");
    await expect.poll(() => cell(page, 1, 15)).toBe("=2*tax_rate+Empty!A1+total");
    await expect.poll(() => name(page)).toBe("P3");
    await page.close();
  });

  test("words are suggested in the bar, at the edge of the window too", async () => {
    const page = await open();
    await goTo(page, "P2");
    await page.locator(".formula").click();
    await page.keyboard.type("=vloo");
    await expect.poll(() => options(page)).toEqual(["VLOOKUP"]);
    await page.keyboard.type("k");
    await expect.poll(() => selected(page)).toEqual(["VLOOKUP"]);
    await page.keyboard.press("Tab");
    await expect.poll(() => page.locator(".formula").inputValue()).toBe("=VLOOKUP(");
    await page.keyboard.press("Escape");
    await goTo(page, "K24");
    await page.keyboard.type("=co");
    await page.locator(".formula-option").first().waitFor();
    const box = (await page.locator(".formula-popup").boundingBox())!;
    expect(box.x + box.width).toBeLessThanOrEqual(1280);
    expect(box.y + box.height).toBeLessThanOrEqual(800);
    await page.close();
  });

  test.each(["light", "dark"] as const)("axe finds nothing serious in %s colors", async (colorScheme) => {
    const page = await open();
    await page.emulateMedia({ colorScheme });
    await goTo(page, "P2");
    await page.keyboard.type("=IF(SUM(C2:D4,\"a\",B2)>C9,su");
    await page.locator(".formula-option").first().waitFor();
    await page.evaluate(await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
    const found = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[] }> } };
      return (await axe.run()).violations.map(({ id, impact, nodes }) => ({ id, impact, node: nodes[0]?.html, summary: nodes[0]?.failureSummary }));
    });
    expect(found.filter(({ impact }) => impact === "serious" || impact === "critical")).toEqual([]);
    await page.close();
  });
});
