import { expect, test } from "vitest";
import { NO_FAULTS, type Fault } from "../fault-proxy";
import { LOST_REQUESTS } from "./guard";
import { describeInBrowser, openPlain } from "./harness";
import { expectEachOnceInOrder, readCells, readLog } from "./log";
import { SheetPage } from "./sheet-page";

const EDITS = 60;
const HANDOVER_MS = 15_000;
const EXPECTED = Object.fromEntries(Array.from({ length: EDITS }, (_, row) => [`${row},0`, String(row + 1)]));

describeInBrowser("a tab that is killed", (harness) => {
  /** Types edits in one of two tabs, and kills it while a request is on its way. Returns the other tab. */
  async function killWhileSending(spreadsheet: string, fault: Fault): Promise<SheetPage> {
    harness.guard.allow(LOST_REQUESTS, /the page crashed/);
    const proxy = await harness.proxy();
    const context = await harness.newContext();
    const other = new SheetPage(await openPlain(harness, context, spreadsheet, proxy));
    const killed = new SheetPage(await openPlain(harness, context, spreadsheet, proxy));
    await killed.goTo("A1");
    for (let edit = 1; edit <= EDITS; edit++) {
      if (edit === 10) proxy.faults.plan = (method) => ({ fault: method === "POST" ? fault : "none" });
      await killed.page.keyboard.insertText(String(edit));
      await killed.page.keyboard.press("Enter");
    }
    await expect.poll(async () => (await killed.status()).pending).toBeGreaterThan(EDITS / 2);
    // An edit is stored before it is shown.
    await expect.poll(() => killed.cells(), { timeout: 10_000 }).toEqual(EXPECTED);
    await harness.crash(killed.page);
    proxy.faults.plan = NO_FAULTS;
    await other.page.bringToFront();
    return other;
  }

  async function expectSent(spreadsheet: string): Promise<void> {
    await expect.poll(async () => (await readLog(harness.stack, spreadsheet)).length, { timeout: HANDOVER_MS }).toBe(EDITS);
    const log = await readLog(harness.stack, spreadsheet);
    expectEachOnceInOrder(log);
    // The edits keep the client that made them, so that the server can drop those that it has.
    expect(new Set(log.map(({ client }) => client)).size).toBe(1);
    expect(await readCells(harness.stack, spreadsheet)).toEqual(EXPECTED);
  }

  test.each<[string, Fault]>([
    ["before the server gets a request", "hold"],
    ["before it gets an answer", "loseReply"],
  ])("%s: a tab that is opened again sends the rest, each once", async (moment, fault) => {
    const spreadsheet = await harness.stack.create(moment);
    const other = await killWhileSending(spreadsheet, fault);
    await other.page.reload();
    await expectSent(spreadsheet);
    await expect.poll(() => other.cells(), { timeout: 10_000 }).toEqual(EXPECTED);
  });

  test("a tab that is open already sends the rest within seconds", async () => {
    const spreadsheet = await harness.stack.create("open tab");
    const other = await killWhileSending(spreadsheet, "hold");
    await expectSent(spreadsheet);
    await expect.poll(() => other.cells(), { timeout: 10_000 }).toEqual(EXPECTED);
  });
});
