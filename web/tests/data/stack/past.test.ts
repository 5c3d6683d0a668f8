import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { OpenedSheet, SheetChange } from "../../../src/data/index";
import { HAS_STACK, startStack, type Stack } from "../../stack";
import * as support from "./support";

let stack: Stack;
let spreadsheet: string;
const opened: OpenedSheet[] = [];
const cellar = (...args: string[]) => stack.cellar(...args, "-s", spreadsheet);

async function open(at?: number | string): Promise<OpenedSheet> {
  const sheet = await support.open(stack, spreadsheet, at === undefined ? {} : { at });
  opened.push(sheet);
  return sheet;
}

describe.skipIf(!HAS_STACK)("an earlier state of a real stack", () => {
  beforeAll(async () => {
    stack = await startStack();
    spreadsheet = await stack.create("past");
    await cellar("set", "A1", "1", "B1", "=A1*10");
    await cellar("set", "A1", "2");
    await cellar("rows", "insert", "1");
    await cellar("sheets", "add", "Later");
    await cellar("set", "A1", "top");
  }, 30_000);
  afterAll(async () => stack.stop());
  afterEach(() => {
    for (const sheet of opened.splice(0)) sheet.close();
  });

  it("shows every position as the command does", async () => {
    for (const at of ["0.1", "0.2", "0.3", "0.5"]) {
      const sheet = await open(at);
      expect(sheet.status).toMatchObject({ position: at, role: "viewer", isOnline: true, problem: null, pending: 0 });
      expect(support.shown(sheet)).toEqual(await support.printed(stack, spreadsheet, "Sheet1", at));
    }
    const first = await open(1);
    expect(first.cellAt(0, 1)).toMatchObject({ value: 10, formula: "=A1*10" });
    expect(first.sheets).toHaveLength(1);
  });

  it("is found by a time", async () => {
    const sheet = await open(new Date(Date.now() + 5_000).toISOString());
    expect(sheet.status.position).toMatch(/^0\.\d+$/);
    expect(support.shown(sheet)).toEqual(await support.printed(stack, spreadsheet));
  });

  it("is not edited, and does not change", async () => {
    const sheet = await open("0.1");
    const changes: SheetChange[] = [];
    sheet.subscribe((change) => changes.push(change));
    sheet.setCells([{ row: 0, column: 0, input: "9" }]);
    expect(sheet.status.problem).toMatch(/cannot be edited/);
    expect(await sheet.undo()).toMatch(/cannot be edited/);
    await cellar("set", "D4", "now");
    sheet.refresh();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(sheet.status).toMatchObject({ position: "0.1", pending: 0 });
    expect(changes).toEqual([{ kind: "status" }]);
  });

  it("reports a position that does not exist", async () => {
    const { url, token } = stack;
    const { openSheet } = await import("../../../src/data/index");
    const sheet = await openSheet({ url, spreadsheet, getToken: () => token, at: "7.7" });
    opened.push(sheet);
    expect(sheet.status.problem).toMatch(/7\.7/);
    expect(sheet.sheets).toEqual([]);
  });
});

describe.skipIf(!HAS_STACK)("the edits of others on a real stack", () => {
  beforeAll(async () => {
    stack = await startStack();
    spreadsheet = await stack.create("others");
  }, 30_000);
  afterAll(async () => stack.stop());

  it("are reported with their author, where they are shown", async () => {
    const writer = await open();
    // Without pokes, so that both entries arrive together.
    const reader = await support.open(stack, spreadsheet, { hints: [] });
    opened.push(reader);
    const authored: SheetChange[] = [];
    for (const sheet of [reader, writer]) {
      sheet.subscribe((change) => {
        if (change.kind === "cells" && change.author !== undefined) authored.push(change);
      });
    }
    writer.setCells([{ row: 1, column: 1, input: "a" }, { row: 1, column: 2, input: "b" }, { row: 2, column: 1, input: "c" }]);
    writer.insertRows(0, 3);
    await support.settle(stack, spreadsheet, [writer]);
    await support.settle(stack, spreadsheet, [reader]);
    const ranges = [
      { firstRow: 4, rowCount: 1, firstColumn: 1, columnCount: 2 },
      { firstRow: 5, rowCount: 1, firstColumn: 1, columnCount: 1 },
    ];
    expect(authored).toEqual([{ kind: "cells", ranges, author: "operator" }]);
  });
});
