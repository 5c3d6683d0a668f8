import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { BrowserContext, Page } from "playwright-core";
import { expect, test } from "vitest";
import { PANEL_NAMES } from "../../src/app/panel-names";
import { describeInBrowser, openList, openPage, type Harness } from "./harness";
import { SheetPage } from "./sheet-page";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

const MISSING = "00000000-0000-8000-8000-000000000000";

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

/** Returns what axe-core finds on a screen. */
async function violations(page: Page, screen: string): Promise<string[]> {
  // Colors are compared when they have their final values.
  await page.evaluate(() => Promise.all(document.getAnimations().map((animation) => animation.finished.catch(() => undefined))));
  await page.evaluate(AXE);
  const found = await page.evaluate(async (values) => {
    const { axe } = globalThis as unknown as { axe: { run(root: Document, options: object): Promise<{ violations: Violation[] }> } };
    return (await axe.run(document, { runOnly: { type: "tag", values } })).violations;
  }, RULES);
  return found.map(({ id, impact, nodes }) => `${screen}: ${impact} ${id}: ${nodes[0]?.html.slice(0, 200)} ${nodes[0]?.failureSummary}`);
}

/** Shows screens one after the other, and keeps what axe-core finds on each. */
class Tour {
  readonly found: string[] = [];

  async look(page: Page, screen: string): Promise<void> {
    this.found.push(...(await violations(page, screen)));
  }

  /** The screens without a spreadsheet: sign-in, addresses that lead nowhere, the list and its dialogs. */
  async list(harness: Harness, context: BrowserContext, name: string): Promise<void> {
    const page = await context.newPage();
    await page.goto(`${harness.pageUrl}/`);
    await page.getByLabel("Token or share link").waitFor();
    await this.look(page, "sign-in");
    for (const [screen, fragment] of [["unknown address", "#/nothing"], ["missing spreadsheet", `#/s/${MISSING}`]]) {
      await page.goto(`${harness.pageUrl}/#token=${harness.stack.token}`);
      await page.goto(`${harness.pageUrl}/${fragment}`);
      await page.getByRole("link", { name: /spreadsheets/i }).first().waitFor();
      await this.look(page, screen!);
    }
    await page.close();
    const list = await openList(harness, context);
    await list.getByRole("button", { name: `Commands for ${name}` }).waitFor();
    await this.look(list, "list");
    for (const command of ["Rename", "Archive", "Delete"]) {
      await list.getByRole("button", { name: `Commands for ${name}` }).click();
      await this.look(list, "menu of the list");
      await list.getByRole("menuitem", { name: command }).click();
      await list.getByRole("dialog").waitFor();
      await this.look(list, `dialog ${command}`);
      await list.keyboard.press("Escape");
    }
    await list.getByRole("searchbox").fill("no such name");
    await list.getByText("has “no such name” in its name").waitFor();
    await this.look(list, "empty list");
  }

  async grid(sheet: SheetPage): Promise<void> {
    await sheet.goTo("A1:B2");
    await sheet.drawn();
    await this.look(sheet.page, "sheet");
    await sheet.goTo("D5");
    await sheet.page.keyboard.type("=SU");
    await sheet.drawn();
    await this.look(sheet.page, "editor of a formula");
    for (const key of ["Escape", "Escape", "Shift+F10"]) await sheet.page.keyboard.press(key);
    await this.look(sheet.page, "menu of cells");
    await sheet.page.keyboard.press("Escape");
    await sheet.page.keyboard.press("Control+f");
    await this.look(sheet.page, "find bar");
    await sheet.page.keyboard.press("Escape");
  }

  /** Each panel that the menu of a spreadsheet opens. */
  async panels({ page }: SheetPage): Promise<void> {
    for (const name of Object.values(PANEL_NAMES)) {
      await page.getByRole("button", { name: "More commands" }).click();
      if (name === "Share") await this.look(page, "menu of the spreadsheet");
      await page.getByRole("menuitem", { name, exact: true }).click();
      await page.locator("aside.panel").getByRole("heading").first().waitFor();
      await expect.poll(() => page.locator("aside.panel").getByText("Loading…").count()).toBe(0);
      await this.look(page, `panel ${name}`);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await this.look(page, "panel on a narrow screen");
    await page.keyboard.press("Escape");
    await this.look(page, "sheet on a narrow screen");
  }
}

describeInBrowser("accessibility", (harness) => {
  test.each(["light", "dark"] as const)("axe-core finds nothing on any screen in %s colors", { timeout: 120_000 }, async (colorScheme) => {
    harness.guard.allow(/status of 404/);
    const name = `screens ${colorScheme}`;
    const spreadsheet = await harness.stack.create(name);
    await harness.stack.cellar("set", "-s", spreadsheet, "A1", "rent", "B1", "1250.00", "A2", "=B1*2", "B2", "=1/0", "C3", "=SUM(D:D)");
    await harness.stack.cellar("links", "create", "-s", spreadsheet, "--role", "viewer");
    await harness.stack.cellar("share", "bob", "--role", "viewer", "-s", spreadsheet);
    await harness.stack.cellar("fork", "-s", spreadsheet, "--name", `fork ${colorScheme}`);
    const context = await harness.newContext({ colorScheme });
    const tour = new Tour();
    await tour.list(harness, context, name);
    const sheet = new SheetPage(await openPage(harness, context, spreadsheet));
    await sheet.cell("rent").waitFor();
    await tour.grid(sheet);
    await tour.panels(sheet);
    expect(tour.found).toEqual([]);
  });
});
