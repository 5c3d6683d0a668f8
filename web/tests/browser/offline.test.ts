import { expect, test } from "vitest";
import { NO_FAULTS, OFFLINE } from "../fault-proxy";
import { LOST_REQUESTS } from "./guard";
import { describeInBrowser, openPage, openPlain } from "./harness";
import { expectEachOnceInOrder, readCells, readLog } from "./log";
import { storedText } from "./storage";
import { SheetPage } from "./sheet-page";

const EDITS = 1_000;

describeInBrowser("edits without a server", (harness) => {
  test("the page opens and edits without a network, and sends each edit once when it is back", { timeout: 120_000 }, async () => {
    harness.guard.allow(LOST_REQUESTS);
    const spreadsheet = await harness.stack.create("without a network");
    await harness.stack.cellar("set", "-s", spreadsheet, "A1", "seen before");
    const context = await harness.newContext();
    const sheet = new SheetPage(await openPage(harness, context, spreadsheet));
    await sheet.cell("seen before").waitFor();
    await sheet.page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
    await sheet.page.reload();
    await sheet.cell("seen before").waitFor();
    // The lists of a stored state have this name.
    await expect.poll(() => storedText(sheet.page)).toContain("fullExtents");
    await context.setOffline(true);
    await sheet.enter("A2", "first");
    await sheet.enter("A3", "second");
    await sheet.page.getByText(/not sent|waiting|offline/i).first().waitFor();
    await sheet.page.reload();
    await sheet.cell("seen before").waitFor();
    // The edits of before the reload are shown too, and count as waiting.
    await expect.poll(() => sheet.cells()).toEqual({ "0,0": "seen before", "1,0": "first", "2,0": "second" });
    await sheet.page.getByText(/2 edits wait/).first().waitFor();
    await sheet.enter("A4", "third");
    await context.setOffline(false);
    await expect.poll(async () => (await readLog(harness.stack, spreadsheet)).length, { timeout: 30_000 }).toBe(4);
    expectEachOnceInOrder(await readLog(harness.stack, spreadsheet));
    const expected = { "0,0": "seen before", "1,0": "first", "2,0": "second", "3,0": "third" };
    expect(await readCells(harness.stack, spreadsheet)).toEqual(expected);
    await expect.poll(() => sheet.cells(), { timeout: 30_000 }).toEqual(expected);
  });

  test("stored cells are removed when the user signs out", async () => {
    const spreadsheet = await harness.stack.create("signed out");
    await harness.stack.cellar("set", "-s", spreadsheet, "A1", "only for me");
    const sheet = new SheetPage(await openPage(harness, await harness.newContext(), spreadsheet));
    await sheet.cell("only for me").waitFor();
    // The page stores cells when it is idle.
    await expect.poll(() => storedText(sheet.page), { timeout: 10_000 }).toContain("fullExtents");
    await sheet.page.goto(`${harness.pageUrl}/#/`);
    await sheet.page.getByRole("button", { name: "Sign out" }).click();
    await expect.poll(() => storedText(sheet.page)).not.toContain("fullExtents");
  });

  test("1,000 edits are sent after a reload: each once, in order", { timeout: 180_000 }, async () => {
    harness.guard.allow(LOST_REQUESTS);
    const spreadsheet = await harness.stack.create("offline");
    const proxy = await harness.proxy();
    const page = await openPlain(harness, await harness.newContext(), spreadsheet, proxy);
    const sheet = new SheetPage(page);
    await sheet.goTo("A1");
    proxy.faults.plan = OFFLINE;
    for (let edit = 1; edit <= EDITS; edit++) {
      await page.keyboard.insertText(String(edit));
      await page.keyboard.press("Enter");
    }
    await expect.poll(async () => (await sheet.status()).pending).toBe(EDITS);
    await sheet.cell("1000").waitFor();
    expect(await readLog(harness.stack, spreadsheet)).toEqual([]);
    const { loseRequest } = proxy.faults.counts;
    await page.reload();
    await expect.poll(() => proxy.faults.counts.loseRequest).toBeGreaterThan(loseRequest);
    proxy.faults.plan = NO_FAULTS;
    await expect.poll(async () => (await readLog(harness.stack, spreadsheet)).length, { timeout: 60_000 }).toBe(EDITS);
    await sheet.saved();
    const log = await readLog(harness.stack, spreadsheet);
    expectEachOnceInOrder(log);
    expect(log.map(({ op }) => op)).toEqual(
      Array.from({ length: EDITS }, (_, row) => ({ setCells: { sheet: 0, cells: [{ row, column: 0, value: row + 1 }] } })),
    );
    const expected = Object.fromEntries(Array.from({ length: EDITS }, (_, row) => [`${row},0`, String(row + 1)]));
    expect(await readCells(harness.stack, spreadsheet)).toEqual(expected);
    await expect.poll(() => sheet.cells()).toEqual(expected);
  });
});
