/** A paste that needs several entries is one step of undo, on a real stack. */

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openSheet, type OpenedSheet } from "../../../src/data/index";
import { FaultProxy, NO_FAULTS, OFFLINE } from "../../fault-proxy";
import { HAS_STACK, startStack, type Stack } from "../../stack";
import * as support from "./support";

const ROWS = 4_000;
const COLUMNS = 5;

let stack: Stack;
let spreadsheet: string;
const opened: OpenedSheet[] = [];

async function open(url = stack.url): Promise<OpenedSheet> {
  const sheet = await openSheet({ url, spreadsheet, getToken: () => stack.token, keepsCells: false });
  opened.push(sheet);
  return sheet;
}

const paste = Array.from({ length: ROWS * COLUMNS }, (_, index) => ({ row: Math.floor(index / COLUMNS), column: index % COLUMNS, input: `${index}.50` }));

const head = async () => (JSON.parse(await stack.cellar("head", "--json", "-s", spreadsheet)) as { head: number }).head;
const contents = () => stack.cellar("export", "-", "-s", spreadsheet, "--sheet", "Sheet1");
const settle = (sheet: OpenedSheet) => support.settle(stack, spreadsheet, [sheet], 30_000);

describe.skipIf(!HAS_STACK)("a paste of several entries", () => {
  beforeAll(async () => {
    stack = await startStack();
  }, 30_000);
  afterAll(async () => stack.stop());
  afterEach(() => {
    for (const sheet of opened.splice(0)) sheet.close();
  });

  it("is undone and redone at once", async () => {
    spreadsheet = await stack.create("paste");
    await stack.cellar("set", "A1", "before", "E4000", "=A1&\"!\"", "-s", spreadsheet);
    const before = await contents();
    const sheet = await open();
    const headBefore = await head();
    sheet.setCells(paste);
    await settle(sheet);
    const entries = (await head()) - headBefore;
    expect(entries).toBeGreaterThanOrEqual(3);
    const after = await contents();
    expect(after).not.toBe(before);
    expect(await sheet.undo()).toBe(`Undid ${ROWS * COLUMNS} cells`);
    await settle(sheet);
    expect(await contents()).toBe(before);
    expect(await head()).toBe(headBefore + 2 * entries);
    expect(await sheet.redo()).toBe(`Redid ${ROWS * COLUMNS} cells`);
    await settle(sheet);
    expect(await contents()).toBe(after);
    expect(await sheet.undo()).toMatch(/^Undid/);
    await settle(sheet);
    expect(await contents()).toBe(before);
    expect(await sheet.undo()).toBe("There is nothing to undo");
  });

  it("keeps what others changed since, and an edit after an undo that waits is not lost", async () => {
    spreadsheet = await stack.create("paste of two");
    const proxy = await FaultProxy.start(stack.url);
    const sheet = await open(proxy.url);
    sheet.setCells(paste);
    await settle(sheet);
    await stack.cellar("set", "B2", "of another", "-s", spreadsheet);
    proxy.plan = (method) => (method === "POST" ? OFFLINE(method, "") : NO_FAULTS(method, ""));
    const undone = sheet.undo();
    await support.until(() => sheet.status.pending >= 3, "the undo waits");
    sheet.setCells([{ row: 0, column: 6, input: "typed" }]);
    await support.until(() => sheet.cellAt(0, 6)?.text === "typed", "the edit is shown");
    proxy.plan = NO_FAULTS;
    sheet.refresh();
    expect(await undone).toBe(`Undid ${ROWS * COLUMNS - 1} cells; 1 cell changed since and kept`);
    await settle(sheet);
    expect((await sheet.unsentEdits()).setAside).toEqual([]);
    expect((await contents()).trim().split("\n").map((line) => line.replaceAll(",", ""))).toEqual(["typed", "of another"]);
    await proxy.close();
  });
});
