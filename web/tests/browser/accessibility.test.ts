import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeInBrowser, openList, openPage, type Harness } from "./harness";
import { SheetPage } from "./sheet-page";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

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

const PANELS = ["Share", "History", "Time", "Export"];

describeInBrowser("accessibility of every screen", (harness) => {
  const SCREENS: [name: string, show: (harness: Harness, page: Page, spreadsheet: string) => Promise<void>][] = [
    ["sign-in", async (_, page) => void (await page.goto(`${harness.pageUrl}/`).then(() => page.getByLabel("Token or share link").waitFor()))],
    ["unknown address", async (_, page) => void (await page.goto(`${harness.pageUrl}/#/nothing`).then(() => page.getByRole("heading").first().waitFor()))],
  ];

  test.each(["light", "dark"] as const)("axe-core finds nothing in %s colors", { timeout: 120_000 }, async (colorScheme) => {
    harness.guard.allow(/status of 404/);
    const found: string[] = [];
    const spreadsheet = await harness.stack.create(`screens ${colorScheme}`);
    await harness.stack.cellar("set", "-s", spreadsheet, "A1", "rent", "B1", "1250.00", "A2", "=B1*2", "B2", "=1/0", "C3", "=SUM(B:B)");
    await harness.stack.cellar("links", "create", "-s", spreadsheet, "--role", "viewer");
    await harness.stack.cellar("share", "bob", "--role", "viewer", "-s", spreadsheet);
    await harness.stack.cellar("fork", "-s", spreadsheet, `fork ${colorScheme}`);
    const context = await harness.newContext({ colorScheme });
    for (const [name, show] of SCREENS) {
      const page = await context.newPage();
      await show(harness, page, spreadsheet);
      found.push(...(await violations(page, name)));
      await page.close();
    }
    const list = await openList(harness, context);
    await list.getByRole("link", { name: `screens ${colorScheme}` }).first().waitFor();
    found.push(...(await violations(list, "list")));
    for (const command of ["Rename", "Archive", "Delete"]) {
      await list.getByRole("button", { name: `Commands for screens ${colorScheme}` }).click();
      if (command === "Rename") found.push(...(await violations(list, "menu of the list")));
      await list.getByRole("menuitem", { name: command }).click();
      await list.getByRole("dialog").waitFor();
      found.push(...(await violations(list, `dialog ${command}`)));
      await list.keyboard.press("Escape");
    }
    await list.close();
    const sheet = new SheetPage(await openPage(harness, context, spreadsheet));
    await sheet.cell("rent").waitFor();
    await sheet.goTo("A1:B2");
    found.push(...(await violations(sheet.page, "sheet")));
    await sheet.goTo("D5");
    await sheet.page.keyboard.type("=SU");
    await sheet.drawn();
    found.push(...(await violations(sheet.page, "editor of a formula")));
    await sheet.page.keyboard.press("Escape");
    await sheet.page.keyboard.press("Escape");
    await sheet.page.keyboard.press("Shift+F10");
    found.push(...(await violations(sheet.page, "menu of cells")));
    await sheet.page.keyboard.press("Escape");
    for (const panel of PANELS) {
      await sheet.page.getByRole("button", { name: panel, exact: true }).click();
      await sheet.page.locator("aside.panel").getByRole("heading").first().waitFor();
      await sheet.page.waitForTimeout(300);
      found.push(...(await violations(sheet.page, `panel ${panel}`)));
      await sheet.page.getByRole("button", { name: panel, exact: true }).click();
    }
    await sheet.page.getByRole("button", { name: "More commands" }).click();
    found.push(...(await violations(sheet.page, "menu of the spreadsheet")));
    const others = (await sheet.page.getByRole("menuitem").allTextContents()).filter((name) => /Forks|cell/i.test(name));
    await sheet.page.keyboard.press("Escape");
    for (const name of others) {
      await sheet.page.getByRole("button", { name: "More commands" }).click();
      await sheet.page.getByRole("menuitem", { name }).click();
      await sheet.page.locator("aside.panel").getByRole("heading").first().waitFor();
      await sheet.page.waitForTimeout(300);
      found.push(...(await violations(sheet.page, `panel ${name}`)));
    }
    await sheet.page.setViewportSize({ width: 390, height: 844 });
    found.push(...(await violations(sheet.page, "sheet on a narrow screen")));
    const missing = await context.newPage();
    await missing.goto(`${harness.pageUrl}/#token=${harness.stack.token}`);
    await missing.goto(`${harness.pageUrl}/#/s/00000000-0000-8000-8000-000000000000`);
    await missing.getByRole("heading").first().waitFor();
    await missing.waitForTimeout(500);
    found.push(...(await violations(missing, "missing spreadsheet")));
    expect(found).toEqual([]);
  });
});
