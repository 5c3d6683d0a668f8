/** The import of files in the list, in Chromium, with a real stack. */

import type { Page, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CAN_TEST_PAGE, dropFile, startPageWorld, type PageWorld } from "./page";

const SENDING = /\/v1\/spreadsheets\/[^/]+\/(?:uploads|entries)$/;

describe.skipIf(!CAN_TEST_PAGE)("the import of a file", { timeout: 60_000 }, () => {
  let world: PageWorld;

  beforeAll(async () => {
    world = await startPageWorld();
  }, 60_000);

  afterAll(async () => {
    expect(world.faults).toEqual([]);
    await world?.close();
  });

  async function openList(): Promise<Page> {
    const page = await world.open();
    await page.getByRole("heading", { name: "Spreadsheets" }).waitFor();
    return page;
  }

  const names = async () => JSON.parse(await world.stack.cellar("list", "--json")) as { spreadsheets: { name: string }[] };
  const toast = (page: Page) => page.getByRole("alert").filter({ hasText: /import/ });

  test.each(["Cancel", "Escape"])("%s ends it, leaves no spreadsheet and says so", async (how) => {
    const page = await openList();
    const held: Route[] = [];
    await page.route(SENDING, (route) => void held.push(route));
    await dropFile(page, `cancel-${how}.csv`, "a,b\n1,2\n");
    const dialog = page.getByRole("dialog", { name: `Import of cancel-${how}.csv` });
    await dialog.getByText("Sending 4 cells").waitFor();
    await expect.poll(() => held.length).toBe(1);
    expect(await dialog.getByRole("progressbar", { name: "Progress of the import" }).getAttribute("value")).toBe("0");
    if (how === "Escape") await page.keyboard.press("Escape");
    else await dialog.getByRole("button", { name: "Cancel" }).click();
    await toast(page).getByText("The import was cancelled. Its spreadsheet was deleted.").waitFor();
    await dialog.waitFor({ state: "detached" });
    expect((await names()).spreadsheets.filter(({ name }) => name.startsWith(`cancel-${how}`))).toEqual([]);
    await page.context().close();
  });

  test("says how the file was read, and asks a bucket that refuses only once", async () => {
    const page = await openList();
    const refusals: string[] = [];
    page.on("console", (message) => {
      if (/CORS policy/.test(message.text())) refusals.push(message.text());
    });
    for (const name of ["first.csv", "second.csv"]) {
      await dropFile(page, name, "tea;1,5\nmilk;2,5\n");
      await page.locator("cellar-grid .cell", { hasText: "milk" }).waitFor();
      await page.getByText("The fields are separated by: semicolon.").waitFor();
      await page.getByRole("link", { name: "Cellar" }).click();
      await page.getByRole("heading", { name: "Spreadsheets" }).waitFor();
    }
    expect(refusals.length).toBeLessThanOrEqual(1);
    await page.context().close();
  });

  test("continues after a failure, and makes one spreadsheet", async () => {
    const page = await openList();
    await page.route(SENDING, (route) => route.abort());
    await dropFile(page, "lost.csv", "a,b\n1,continued\n");
    await toast(page).getByText("The file was not imported. The stack does not respond.").waitFor();
    await page.unroute(SENDING);
    await toast(page).getByRole("button", { name: "Try again" }).click();
    await page.locator("cellar-grid .cell", { hasText: "continued" }).waitFor();
    await expect.poll(async () => (await names()).spreadsheets.filter(({ name }) => name === "lost").length).toBe(1);
    await page.context().close();
  });

  test.each([true, false])("of a workbook shows the command to copy, with a clipboard: %s", async (hasClipboard) => {
    const page = await openList();
    if (hasClipboard) await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    else await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
    await dropFile(page, "my book.xlsx", "PK");
    await toast(page).getByText("my book.xlsx is a workbook, which the page does not read. Import it with:").waitFor();
    const command = `cellar import --url ${world.url} 'my book.xlsx'`;
    expect(await toast(page).locator("code").textContent()).toBe(command);
    await toast(page).getByRole("button", { name: "Copy" }).click();
    await toast(page).getByRole("button", { name: "Copied" }).waitFor();
    if (hasClipboard) expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(command);
    expect(await toast(page).getByRole("button", { name: "Try again" }).count()).toBe(0);
    await page.context().close();
  });
});
