import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeInBrowser, openList } from "./harness";
import { readCells } from "./log";
import { SheetPage } from "./sheet-page";

const MAX_TABS = 40;

/** Presses Tab, or Shift+Tab, until a control with this name has the focus. */
async function tabTo(page: Page, name: RegExp, key = "Tab"): Promise<void> {
  const names: string[] = [];
  for (let presses = 0; presses < MAX_TABS; presses++) {
    await page.keyboard.press(key);
    const focused = await focusedName(page);
    names.push(focused);
    if (name.test(focused)) return;
  }
  throw new Error(`no control ${name} after ${MAX_TABS} presses of ${key}; the focus was on: ${names.join(", ")}`);
}

async function focusedName(page: Page): Promise<string> {
  return page.evaluate(() => {
    let focused = document.activeElement;
    while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
    const label = (focused as HTMLInputElement | null)?.labels?.[0]?.textContent;
    return focused?.getAttribute("aria-label") ?? label ?? focused?.textContent ?? "";
  });
}

describeInBrowser("the keyboard alone", (harness) => {
  test("creates, types, calculates, undoes, redoes, and shares", { timeout: 90_000 }, async () => {
    const page = await openList(harness, await harness.newContext({ permissions: ["clipboard-read", "clipboard-write"] }));
    await tabTo(page, /^New spreadsheet$/);
    await page.keyboard.press("Enter");
    const sheet = await new SheetPage(page).ready();
    const [spreadsheet] = /[0-9a-f-]{36}/.exec(page.url())!;
    await expect.poll(() => focusedName(page), { message: "the grid takes the focus when it opens" }).toMatch(/cell|edit/i);
    const columns = [["rent", "food", "sum"], ["1250", "480", "=SUM(B1:B2)"]];
    for (const column of columns) {
      for (const text of column) {
        await page.keyboard.type(text);
        await page.keyboard.press("Enter");
      }
      for (const key of ["Control+ArrowUp", "Control+Home", "ArrowRight"]) await page.keyboard.press(key);
    }
    await sheet.saved();
    await sheet.cell("1730").waitFor();
    expect(await readCells(harness.stack, spreadsheet!)).toEqual({ "0,0": "rent", "0,1": "1250", "1,0": "food", "1,1": "480", "2,0": "sum", "2,1": "1730" });
    await page.keyboard.press("Control+z");
    await expect.poll(() => readCells(harness.stack, spreadsheet!)).not.toHaveProperty("2,1");
    await page.keyboard.press("Control+y");
    await expect.poll(async () => (await readCells(harness.stack, spreadsheet!))["2,1"]).toBe("1730");
    // Escape, then Shift+Tab, leaves the grid to the commands of the header.
    await page.keyboard.press("Escape");
    await tabTo(page, /^Share$/, "Shift+Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Create link" }).waitFor();
    await tabTo(page, /^Create link$/);
    await page.keyboard.press("Enter");
    await expect.poll(() => focusedName(page)).toMatch(/New link/);
    const address = await page.getByLabel("New link, shown only once").inputValue();
    harness.guard.addSecret(/link=([\w-]+)$/.exec(address)![1]!);
    await page.keyboard.press("Escape");
    await page.locator("aside.panel").waitFor({ state: "detached" });
    expect(await focusedName(page), "the focus returns to the button of the panel").toBe("Share");
    expect(await harness.stack.cellar("details", "-s", spreadsheet!, "--json")).toContain('"role":"viewer"');
  });

  test("the focus is visible wherever Tab leads", async () => {
    const page = await openList(harness, await harness.newContext());
    await page.getByRole("button", { name: "New spreadsheet" }).first().click();
    await new SheetPage(page).ready();
    await page.keyboard.press("Escape");
    // A control whose style does not change when it gets the focus hides the focus.
    const invisible = new Set<string>();
    for (let presses = 0; presses < 20; presses++) {
      await page.keyboard.press("Tab");
      const focused = await page.evaluateHandle(() => {
        let element = document.activeElement as HTMLElement;
        while (element.shadowRoot?.activeElement) element = element.shadowRoot.activeElement as HTMLElement;
        return element;
      });
      const styleOf = () => focused.evaluate((element) => {
        const { outlineStyle, outlineWidth, boxShadow, borderColor, backgroundColor, zIndex } = getComputedStyle(element);
        return [outlineStyle, outlineWidth, boxShadow, borderColor, backgroundColor, zIndex].join();
      });
      // The active cell has a frame of its own, which a screenshot of the grid shows.
      const isGrid = await focused.evaluate((element) => element.classList.contains("editor") || element === document.body);
      const withFocus = await styleOf();
      await focused.evaluate((element) => element.blur());
      if (!isGrid && (await styleOf()) === withFocus) invisible.add(await focused.evaluate((element) => element.outerHTML.slice(0, 120)));
      await focused.evaluate((element) => element.focus());
    }
    expect([...invisible]).toEqual([]);
  });
});
