import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { focused, goTo, hasBrowser, name, notice, startGridBrowser, withGrid, type GridBrowser } from "./grid-page";

let chromium: GridBrowser;

describe.skipIf(!hasBrowser)("tabs and find", { timeout: 60_000 }, () => {
  beforeAll(async () => {
    chromium = await startGridBrowser();
  }, 60_000);
  afterAll(() => chromium?.close());

  test("adds, renames and deletes sheets with the mouse", async () => {
    const page = await chromium.open();
    await page.getByRole("button", { name: "Add a sheet" }).click();
    const tab = (label: string) => page.getByRole("tab", { name: label, exact: true });
    await expect.poll(() => tab("Sheet3").getAttribute("aria-selected")).toBe("true");
    await tab("Sheet3").dblclick();
    await page.getByRole("textbox", { name: "New name of the sheet" }).fill("Costs");
    await page.keyboard.press("Enter");
    await tab("Costs").waitFor();
    await tab("Costs").dblclick();
    await page.getByRole("textbox", { name: "New name of the sheet" }).fill("readings");
    await page.keyboard.press("Enter");
    await notice(page, "Another sheet is called readings").waitFor();
    await tab("Costs").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Delete" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Delete the sheet Costs?" });
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await tab("Costs").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await expect.poll(() => page.getByRole("tab").allTextContents()).toEqual(["Readings", "Empty"]);
    expect(await page.getByRole("tab", { selected: true }).textContent()).toBe("Readings");
    await page.close();
  });

  test("tabs by keyboard: move, rename by F2, delete with a dialog that Escape closes", async () => {
    const page = await chromium.open();
    await page.getByRole("tab", { name: "Readings" }).focus();
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => page.getByRole("tab", { selected: true }).textContent()).toBe("Empty");
    await page.keyboard.press("F2");
    await page.keyboard.type("Full");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByRole("tab").allTextContents()).toEqual(["Readings", "Full"]);
    await page.keyboard.press("Delete");
    const dialog = page.getByRole("alertdialog");
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    expect(await page.getByRole("tab").count()).toBe(2);
    await page.keyboard.press("Shift+F10");
    await page.getByRole("menuitem", { name: "Rename" }).waitFor();
    await page.keyboard.press("Escape");
    expect(await page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.textContent)).toBe("Full");
    await page.close();
  });

  test("a viewer can neither add, rename nor delete", async () => {
    const page = await chromium.open();
    await withGrid(page, (grid) => grid.source.setStatus({ role: "viewer" }), null);
    const tab = page.getByRole("tab", { name: "Readings" });
    await expect.poll(() => page.getByRole("button", { name: "Add a sheet" }).isVisible()).toBe(false);
    await tab.dblclick();
    await tab.press("F2");
    await tab.press("Delete");
    expect(await page.locator(".rename").isVisible()).toBe(false);
    expect(await page.getByRole("alertdialog").isVisible()).toBe(false);
    await page.close();
  });

  test("finds loaded cells without an app; Enter and Shift+Enter move, Escape closes", async () => {
    const page = await chromium.open();
    await goTo(page, "A1");
    await page.keyboard.press("Control+f");
    await page.keyboard.type("column 1");
    await page.keyboard.press("Enter");
    await expect.poll(() => name(page)).toBe("J1");
    await page.keyboard.press("Enter");
    await expect.poll(() => name(page)).toBe("K1");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.press("Shift+Enter");
    await expect.poll(() => name(page)).toBe("A1");
    await expect.poll(() => page.locator(".find-count").textContent()).toBe("1 of 4");
    await expect.poll(() => page.locator(".mark.found:visible").count()).toBe(4);
    await page.keyboard.press("Escape");
    await expect.poll(() => page.locator(".mark.found:visible").count()).toBe(0);
    expect(await focused(page)).toContain("editor");
    await page.close();
  });

  test("an app that asks the server shows what it found, also in another sheet", async () => {
    const page = await chromium.open();
    await page.evaluate(() => {
      const grid = document.querySelector("cellar-grid")!;
      grid.addEventListener("cellar-find", (event) => {
        event.preventDefault();
        const cells = [{ sheet: 1, row: 900_000, column: 2 }, { sheet: 2, row: 4, column: 1 }];
        setTimeout(() => grid.showFound({ cells, count: 70_000, staleCount: 12, isPartial: true }), 50);
      });
    });
    await goTo(page, "A1");
    await page.keyboard.press("Control+f");
    await page.keyboard.type("rare");
    await expect.poll(() => page.locator(".find-count").textContent()).toBe("70,000 found so far, 12 stale*");
    await page.keyboard.press("Enter");
    await expect.poll(() => name(page)).toBe("C900001");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByRole("tab", { selected: true }).textContent()).toBe("Empty");
    await expect.poll(() => name(page)).toBe("B5");
    await page.close();
  });
});
