/** The page by keyboard only and for assistive technology, time travel, and the edits of others. */

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CAN_TEST_PAGE, startPageWorld, typeInto, type PageWorld } from "./page";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string }[];
}

describe.skipIf(!CAN_TEST_PAGE)("the page for everyone", { timeout: 90_000 }, () => {
  let world: PageWorld;
  let id: string;

  beforeAll(async () => {
    world = await startPageWorld();
    id = await world.stack.create("Budget");
    await world.stack.cellar("set", "-s", id, "A1", "rent", "B1", "1250");
    await world.stack.cellar("set", "-s", id, "B1", "1300");
  }, 60_000);

  afterAll(async () => {
    await world?.close();
  });

  async function findings(page: Page): Promise<string[]> {
    await page.evaluate(await readFile(AXE, "utf8"));
    const violations = await page.evaluate(async () => {
      const { axe } = window as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } };
      return (await axe.run()).violations;
    });
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    return serious.map(({ id: rule, nodes }) => `${rule}: ${nodes[0]?.html ?? ""}`);
  }

  async function openSheet(options = {}): Promise<Page> {
    const page = await world.open(undefined, options);
    await page.goto(`${world.url}/#/s/${id}`);
    await page.locator("cellar-grid .cell", { hasText: "rent" }).waitFor();
    return page;
  }

  test.each([
    ["light", 1280, 800],
    ["dark", 390, 844],
  ] as const)("axe finds nothing serious, %s at %d × %d", async (colorScheme, width, height) => {
    const options = { colorScheme, viewport: { width, height } };
    const signIn = await world.open("", options);
    await signIn.getByRole("heading", { name: "Sign in to Cellar" }).waitFor();
    expect(await findings(signIn)).toEqual([]);
    await signIn.context().close();

    const page = await world.open(undefined, options);
    await page.getByRole("button", { name: "Commands for Budget" }).click();
    expect(await findings(page)).toEqual([]);
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("dialog").waitFor();
    expect(await findings(page)).toEqual([]);
    await page.goto(`${world.url}/#/s/${id}`);
    await page.locator("cellar-grid .cell", { hasText: "rent" }).waitFor();
    expect(await findings(page)).toEqual([]);
    await page.context().close();
  });

  test("a spreadsheet is renamed, edited and left by keyboard only", async () => {
    const page = await world.open();
    await page.getByRole("button", { name: "New spreadsheet" }).waitFor();
    await page.getByRole("button", { name: "New spreadsheet" }).focus();
    await page.keyboard.press("Enter");
    await page.locator(".status", { hasText: "Saved" }).waitFor();
    // The grid has the focus: typing edits the active cell.
    await page.keyboard.type("typed at once");
    await page.keyboard.press("Enter");
    await page.locator("cellar-grid .cell", { hasText: "typed at once" }).waitFor();
    await page.getByRole("textbox", { name: "Name of the spreadsheet" }).focus();
    await page.keyboard.type("By keyboard");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.title()).toBe("By keyboard · Cellar");
    await page.getByRole("button", { name: "More commands" }).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("End");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Delete");
    await page.keyboard.press("Escape");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("More commands");
    await page.getByRole("button", { name: "History", exact: true }).press("Enter");
    await page.getByRole("complementary", { name: "History" }).getByText("operator").first().waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("complementary", { name: "History" }).waitFor({ state: "hidden" });
    await page.context().close();
  });

  test("an earlier state is shown read-only, and the selection stays", async () => {
    const page = await openSheet();
    await page.locator("cellar-grid .name-box").fill("B1");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Time" }).click();
    await page.getByRole("button", { name: "Earlier" }).click();
    await page.locator("cellar-grid .cell", { hasText: /^1250$/ }).waitFor();
    await page.locator(".status", { hasText: "Read-only: an earlier state" }).waitFor();
    expect(page.url()).toContain("?at=0.");
    expect(await page.locator("cellar-grid .name-box").inputValue()).toBe("B1");
    await page.getByRole("button", { name: "Show the newest state" }).click();
    await page.locator("cellar-grid .cell", { hasText: /^1300$/ }).waitFor();
    expect(page.url()).toBe(`${world.url}/#/s/${id}`);
    await page.context().close();
  });

  test("the edit of another person appears with the name, which goes away", async () => {
    await world.stack.cellar("share", "-s", id, "bob", "--role", "editor");
    const [own, other] = [await openSheet(), await world.open(`#token=${await world.stack.tokenOf("bob")}`)];
    await other.goto(`${world.url}/#/s/${id}`);
    await other.locator("cellar-grid .cell", { hasText: "rent" }).waitFor();
    await typeInto(other, "A2", "power");
    await own.locator("cellar-grid .cell", { hasText: "power" }).waitFor();
    const label = own.locator("cellar-grid .mark-label").getByText("bob", { exact: true });
    await label.waitFor();
    await label.waitFor({ state: "hidden", timeout: 8_000 });
    await own.context().close();
    await other.context().close();
  });

  test("find searches the whole spreadsheet on the server", async () => {
    await world.stack.cellar("set", "-s", id, "C9000", "a needle far below");
    const page = await openSheet();
    await page.locator("cellar-grid").press("Control+f");
    await page.keyboard.type("needle");
    await page.keyboard.press("Enter");
    await page.locator("cellar-grid .cell", { hasText: "needle" }).waitFor();
    await page.context().close();
  });

  test("the page throws nothing", () => {
    expect(world.faults).toEqual([]);
  });
});
