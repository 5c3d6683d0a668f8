/** The panels of a spreadsheet, in Chromium, with a real stack. */

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { CAN_TEST_PAGE, startPageWorld, typeInto, type PageWorld } from "./page";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
/** A folder for screenshots, to look at them. */
const PICTURES = process.env["CELLAR_PICTURES"];
const PHONE = { width: 390, height: 780 };

describe.skipIf(!CAN_TEST_PAGE)("panels", { timeout: 60_000 }, () => {
  let world: PageWorld;
  beforeAll(async () => {
    world = await startPageWorld();
  }, 60_000);
  afterAll(async () => {
    expect(world.faults).toEqual([]);
    await world?.close();
  });

  const run = (id: string, ...args: string[]) => world.stack.cellar(...args, "-s", id);

  /** A spreadsheet with four edits: A1 = 1, B2 = two, A1 = 3, C4 = 4. */
  async function withEdits(name: string): Promise<string> {
    const id = await world.stack.create(name);
    for (const [cell, value] of [["A1", "1"], ["B2", "two"], ["A1", "3"], ["C4", "4"]]) await run(id, "set", cell!, value!);
    return id;
  }

  async function openSpreadsheet(id: string, viewport?: { width: number; height: number }): Promise<Page> {
    const page = await world.open(undefined, viewport === undefined ? {} : { viewport });
    await page.locator(".list, .page-header").first().waitFor();
    await page.goto(`${world.url}/#/s/${id}`);
    await page.locator("cellar-grid .cell", { hasText: "two" }).waitFor();
    return page;
  }

  async function openPanel(page: Page, name: string): Promise<ReturnType<Page["getByRole"]>> {
    const button = page.locator(".sheet-header").getByRole("button", { name, exact: true });
    if (await button.isVisible()) await button.click();
    else {
      await page.locator(".sheet-header").getByRole("button", { name: /commands|menu|more/i }).click();
      await page.getByRole("menuitem", { name, exact: true }).click();
    }
    const panel = page.getByRole("complementary", { name });
    await panel.getByRole("heading", { name, level: 2 }).waitFor();
    return panel;
  }

  async function look(page: Page, name: string): Promise<void> {
    if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/${name}.png` });
  }

  async function expectAccessible(page: Page): Promise<void> {
    await page.evaluate(await readFile(AXE, "utf8"));
    const found = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: { run(selector: string): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } };
      return (await axe.run(".panel")).violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
    });
    expect(found).toEqual([]);
  }

  const panelMarks = (page: Page) =>
    page.evaluate(() => document.querySelector("cellar-grid")?.marks.filter((mark) => mark.label === undefined).length);
  const focusedText = (page: Page) => page.evaluate(() => document.activeElement?.textContent);
  const cell = (page: Page, text: string) => page.locator("cellar-grid .cell", { hasText: new RegExp(`^${text}$`) });

  test("an owner adds a member, changes the role, and revokes it", async () => {
    const id = await withEdits("members");
    const page = await openSpreadsheet(id);
    const panel = await openPanel(page, "Share");
    await panel.getByLabel("Name").fill("bob");
    await panel.getByLabel("Name").press("Enter");
    await panel.getByText("bob is now a viewer.").waitFor();
    await panel.getByLabel("Role of bob").selectOption("editor");
    await panel.getByText("bob is now an editor.").waitFor();
    expect(await run(id, "details")).toMatch(/bob\s+editor|editor\s+bob/);
    await expectAccessible(page);
    await look(page, "share-members");
    await panel.getByRole("button", { name: "Revoke access of bob" }).click();
    await panel.getByRole("button", { name: "Revoke", exact: true }).click();
    await panel.getByText("bob has lost access").waitFor();
    expect(await run(id, "details")).not.toContain("bob");
    await page.context().close();
  });

  test("the last owner stays", async () => {
    const page = await openSpreadsheet(await withEdits("last owner"));
    const panel = await openPanel(page, "Share");
    await panel.getByRole("button", { name: /Revoke access of/ }).click();
    await panel.getByRole("button", { name: "Revoke", exact: true }).click();
    await panel.getByRole("alert").filter({ hasText: /owner/ }).waitFor();
    await page.context().close();
  });

  test("a link is shown once, opens the spreadsheet, and ends when it is revoked", async () => {
    const id = await withEdits("links");
    const page = await openSpreadsheet(id);
    const panel = await openPanel(page, "Share");
    const form = panel.getByRole("form", { name: "Create a share link" });
    await form.getByLabel("Label").fill("press");
    await form.getByRole("button", { name: "Create link" }).click();
    const field = panel.getByLabel("New link, shown only once");
    const address = (await field.inputValue()).replace(world.stack.url, world.url);
    await panel.getByText("If it is stolen").waitFor();
    await expectAccessible(page);
    await look(page, "share-link");
    const visitor = await world.open(new URL(address).hash);
    await cell(visitor, "two").waitFor();
    await openPanel(visitor, "Share").then((shown) => shown.getByText("Only editors and owners see the members.").waitFor());
    await visitor.context().close();
    await panel.getByRole("button", { name: "Revoke link press" }).click();
    await panel.getByRole("button", { name: "Revoke", exact: true }).click();
    await panel.getByText("No share links.").waitFor();
    await page.context().close();
  });

  test("the history shows an earlier state, undoes an edit and reverts with a preview", async () => {
    const id = await withEdits("history");
    const page = await openSpreadsheet(id);
    const panel = await openPanel(page, "History");
    await panel.getByRole("button", { name: /^A1 = 3/ }).click();
    await panel.getByText("Changed: 1 cell.").waitFor();
    await cell(page, "4").waitFor({ state: "detached" });
    await expect.poll(() => panelMarks(page)).toBe(1);
    await expectAccessible(page);
    await look(page, "history-entry");
    await panel.getByRole("button", { name: "Undo this…" }).focus();
    await page.keyboard.press("Enter");
    await panel.getByText("Take back 0.3 (A1 = 3)? What was changed since stays. The undo can be undone.").waitFor();
    await expectAccessible(page);
    await look(page, "history-undo");
    // The focus is on "Cancel", so that Enter does nothing by mistake.
    await page.keyboard.press("Enter");
    await expect.poll(() => focusedText(page)).toBe("Undo this…");
    await page.keyboard.press("Enter");
    await expect.poll(() => focusedText(page)).toBe("Cancel");
    await page.keyboard.press("Escape");
    await expect.poll(() => focusedText(page)).toBe("Undo this…");
    expect(await run(id, "history", "--limit", "1")).not.toContain("undid");
    await page.keyboard.press("Enter");
    await expect.poll(() => focusedText(page)).toBe("Cancel");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await panel.getByText("Undid 0.3 as 0.5.").waitFor();
    await expect.poll(() => focusedText(page)).toContain("Undid 0.3 as 0.5.");
    await panel.getByText("Took back: 1 cell.").waitFor();
    await cell(page, "1").waitFor();
    await expect.poll(() => panelMarks(page)).toBe(0);

    await panel.getByRole("button", { name: /^undid 0.3/ }).waitFor();
    await panel.getByRole("button", { name: /^A1 = 1/ }).click();
    await panel.getByRole("button", { name: "Revert to here…" }).click();
    await panel.getByText("The revert takes back all changes since 0.1, by all authors: 2 cells.").waitFor();
    await look(page, "history-revert");
    await panel.getByRole("button", { name: "Revert", exact: true }).click();
    await panel.getByText("Reverted to 0.1 as 0.6.").waitFor();
    await cell(page, "two").waitFor({ state: "detached" });
    expect(await run(id, "get")).not.toContain("two");
    await page.context().close();
  });

  test("the history grows with the edits of others, and loads older entries on scroll", async () => {
    const id = await withEdits("long");
    for (let row = 1; row <= 60; row += 1) await run(id, "set", `D${row}`, String(row));
    const page = await openSpreadsheet(id);
    const panel = await openPanel(page, "History");
    await panel.getByRole("button", { name: /^D60 = 60/ }).waitFor();
    await panel.getByRole("button", { name: /^D60 = 60/ }).evaluate((node) => node.closest(".panel-body")?.scrollTo(0, 1e6));
    await panel.getByRole("button", { name: /^created/ }).waitFor();
    await run(id, "set", "E1", "news");
    await panel.getByRole("button", { name: /^E1 = "news"/ }).waitFor();
    await page.context().close();
  });

  test("the time slider is moved by keys and by pointer, and goes back to now", async () => {
    const id = await withEdits("time");
    const page = await openSpreadsheet(id);
    const panel = await openPanel(page, "Time");
    const slider = panel.getByRole("slider", { name: "Shown state" });
    await slider.focus();
    await slider.press("ArrowLeft");
    await slider.press("ArrowLeft");
    await cell(page, "4").waitFor({ state: "detached" });
    await panel.getByText("Changed since then: 2 cells.").waitFor();
    expect(await slider.getAttribute("aria-valuetext")).toContain('B2 = "two"');
    await expect.poll(() => panelMarks(page)).toBe(2);
    expect(await slider.evaluate((node) => document.activeElement === node)).toBe(true);
    await expectAccessible(page);
    await look(page, "time");
    const box = (await slider.boundingBox())!;
    await page.mouse.click(box.x + 9, box.y + box.height / 2);
    await cell(page, "two").waitFor({ state: "detached" });
    await panel.getByRole("button", { name: "Back to now" }).click();
    await cell(page, "4").waitFor();
    await expect.poll(() => panelMarks(page)).toBe(0);
    expect(page.url()).toBe(`${world.url}/#/s/${id}`);
    await page.context().close();
  });

  test("the history of cells follows the selection", async () => {
    const id = await withEdits("cells");
    const page = await openSpreadsheet(id);
    const panel = await openPanel(page, "History of cells");
    await panel.getByText("empty").waitFor();
    await page.locator("cellar-grid .name-box").fill("B2");
    await page.keyboard.press("Enter");
    await panel.getByText("Sheet1!B2").waitFor();
    await panel.locator("ins", { hasText: '"two"' }).waitFor();
    await page.locator("cellar-grid .name-box").fill("A1:B3");
    await page.keyboard.press("Enter");
    await expect.poll(() => panel.getByRole("listitem").count()).toBe(3);
    await expectAccessible(page);
    await look(page, "cell-history");
    await page.locator("cellar-grid .name-box").fill("F9");
    await page.keyboard.press("Enter");
    await panel.getByText("Nobody has changed this cell.").waitFor();
    await typeInto(page, "F9", "typed");
    await page.locator("cellar-grid .name-box").fill("F9");
    await page.keyboard.press("Enter");
    await panel.locator("ins", { hasText: '"typed"' }).waitFor();
    await page.context().close();
  });

  test("a sheet is saved as csv, as it is shown", async () => {
    const id = await withEdits("save");
    const page = await openSpreadsheet(id);
    // Without the dialog of the browser, which a test cannot answer, the file is downloaded.
    await page.evaluate(() => void Reflect.deleteProperty(globalThis, "showSaveFilePicker"));
    const panel = await openPanel(page, "Export");
    const saved = async (name: string) => {
      const [download] = await Promise.all([page.waitForEvent("download"), panel.getByRole("button", { name }).click()]);
      return { name: download.suggestedFilename(), text: await readFile((await download.path())!, "utf8") };
    };
    expect(await saved("Save as csv")).toEqual({ name: "save - Sheet1.csv", text: "3,,\n,two,\n,,\n,,4\n" });
    await panel.getByText("Saved 3 cells in 4 rows and 3 columns.").waitFor();
    expect((await saved("Save as tsv")).text).toBe("3\t\t\n\ttwo\t\n\t\t\n\t\t4\n");
    await expectAccessible(page);
    await look(page, "export");
    await page.goto(`${world.url}/#/s/${id}?at=0.2`);
    await panel.getByText("as it is at 0.2").waitFor();
    expect((await saved("Save as csv")).text).toBe("1,\n,two\n");
    await page.context().close();
  });

  test("a fork is created, edited, and merged after a preview", async () => {
    const id = await withEdits("plan");
    const page = await openSpreadsheet(id);
    const panel = await openPanel(page, "Forks");
    await panel.getByText("This spreadsheet has no forks that you may see.").waitFor();
    await panel.getByLabel("Name, or nothing").fill("what if");
    await panel.getByRole("button", { name: "Create a fork" }).click();
    const link = panel.getByRole("link", { name: "Open the new fork" });
    const fork = (await link.getAttribute("href"))!.split("/").at(-1)!;
    await run(fork, "set", "A1", "99");
    await run(id, "set", "A1", "50");
    await panel.getByRole("button", { name: "Merge into plan… (what if)" }).click();
    await panel.getByText("Would merge 1 edit into plan: 1 as they were made, 0 moved, 0 dropped, 0 rejected. 1 in conflict").waitFor();
    await panel.getByText("In conflict: others changed Sheet1!A1; the fork wins.").waitFor();
    await expectAccessible(page);
    await look(page, "forks");
    await panel.getByRole("button", { name: "Merge", exact: true }).click();
    await panel.getByText("Merged 1 edit into plan").waitFor();
    await cell(page, "99").waitFor();
    await link.click();
    await page.getByRole("textbox", { name: "Name of the spreadsheet" }).waitFor();
    await page.context().close();
  });

  test("a viewer sees the history without commands that edit", async () => {
    const id = await withEdits("viewer");
    const printed = JSON.parse(await world.stack.cellar("links", "create", "-s", id, "--json")) as { token: string };
    const page = await world.open(`#/s/${id}?link=${printed.token.split(".")[2]}`);
    await cell(page, "two").waitFor();
    const panel = await openPanel(page, "History");
    await panel.getByRole("button", { name: /^A1 = 3/ }).click();
    await panel.getByText("Changed: 1 cell.").waitFor();
    expect(await panel.getByRole("button", { name: "Undo this…" }).count()).toBe(0);
    expect(await panel.getByRole("button", { name: "Revert to here…" }).count()).toBe(0);
    await page.context().close();
  });

  test("a panel without the network says so, and tries again", async () => {
    const id = await withEdits("offline");
    const page = await openSpreadsheet(id);
    // The service worker has the script of the panel.
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    await page.context().setOffline(true);
    const panel = await openPanel(page, "Forks");
    await panel.getByText("The stack does not respond.").waitFor({ timeout: 30_000 });
    await look(page, "offline");
    await page.context().setOffline(false);
    await panel.getByRole("button", { name: "Try again" }).click();
    await panel.getByText("This spreadsheet has no forks").waitFor();
    await page.context().close();
  });

  test.each(["Share", "History", "Time", "History of cells", "Export", "Forks"])("%s fits a phone, and Escape returns the focus", async (name) => {
    const page = await openSpreadsheet(await withEdits(`phone ${name}`), PHONE);
    const panel = await openPanel(page, name);
    await expect.poll(() => panel.getByText("Loading…").count()).toBe(0);
    await look(page, `phone-${name.replaceAll(" ", "-")}`);
    const overflow = await page.evaluate(() => {
      const body = document.querySelector(".panel-body");
      return [document.documentElement.scrollWidth > innerWidth, body !== null && body.scrollWidth > body.clientWidth];
    });
    expect(overflow).toEqual([false, false]);
    await panel.getByRole("button", { name: `Close ${name}` }).focus();
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    expect(await page.evaluate(() => document.activeElement !== document.body)).toBe(true);
    await page.context().close();
  });
});
