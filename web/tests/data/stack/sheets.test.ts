import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { OpenedSheet } from "../../../src/data/index";
import { HAS_STACK, startStack, type Stack } from "../../stack";
import * as support from "./support";

let stack: Stack;
let spreadsheet: string;
const opened: OpenedSheet[] = [];

async function open(): Promise<OpenedSheet> {
  const sheet = await support.open(stack, spreadsheet);
  opened.push(sheet);
  return sheet;
}

const expectSame = (...sheets: OpenedSheet[]) => support.expectSame(stack, spreadsheet, sheets);
const cellar = (...args: string[]) => stack.cellar(...args, "-s", spreadsheet);
const names = (sheet: OpenedSheet) => sheet.sheets.map(({ name }) => name);

function select(sheet: OpenedSheet, name: string): void {
  sheet.selectSheet(sheet.sheets.find((info) => info.name === name)?.sheet ?? -1);
  sheet.request(support.WINDOW);
}

async function printedNames(): Promise<string[]> {
  const reply = JSON.parse(await cellar("sheets", "--json")) as { sheets: { name: string }[] };
  return reply.sheets.map(({ name }) => name);
}

describe.skipIf(!HAS_STACK)("sheets of a real stack", () => {
  beforeAll(async () => {
    stack = await startStack();
  }, 30_000);
  afterAll(async () => stack.stop());
  afterEach(() => {
    for (const sheet of opened.splice(0)) sheet.close();
  });

  it("are added, renamed and deleted", async () => {
    spreadsheet = await stack.create("tabs");
    const sheet = await open();
    sheet.addSheet("Budget");
    await support.until(() => names(sheet).includes("Budget"), "the sheet is listed before the server has it");
    select(sheet, "Budget");
    sheet.setCells([{ row: 0, column: 0, input: "1250" }, { row: 1, column: 0, input: "=A1*2" }]);
    sheet.addSheet("budget");
    sheet.renameSheet(0, "First");
    const changed = "First, Budget, budget (2)";
    await support.until(() => names(sheet).join(", ") === changed, "the new names are shown");
    await expectSame(sheet);
    expect(sheet.cellAt(1, 0)).toMatchObject({ value: 2_500 });
    expect(await printedNames()).toEqual(names(sheet));
    sheet.deleteSheet(sheet.sheet);
    await support.until(() => sheet.sheets.length === 2, "the sheet is gone");
    expect(sheet.sheet).toBe(0);
    sheet.deleteSheet(0);
    await support.settle(stack, spreadsheet, [sheet]);
    sheet.deleteSheet(sheet.sheet);
    expect(sheet.status.problem).toMatch(/only sheet/);
    sheet.addSheet("a/b");
    expect(sheet.status.problem).toMatch(/cannot contain/);
    expect(await printedNames()).toEqual(["budget (2)"]);
    expect(names(sheet)).toEqual(["budget (2)"]);
  });

  it("keep their edits when two clients add one with the same number", async () => {
    spreadsheet = await stack.create("same number");
    const [first, second] = await Promise.all([open(), open()]);
    for (const [sheet, name] of [[first, "Theirs"], [second, "Ours"]] as const) {
      sheet.addSheet(name);
      await support.until(() => names(sheet).includes(name), "the sheet is listed");
      select(sheet, name);
      sheet.setCells([{ row: 0, column: 0, input: `cell of ${name}` }, { row: 2, column: 0, input: "below" }]);
      sheet.insertRows(1, 1);
    }
    await support.settle(stack, spreadsheet, [first, second]);
    for (const [sheet, name] of [[first, "Theirs"], [second, "Ours"]] as const) {
      expect(sheet.sheets.find((info) => info.sheet === sheet.sheet)?.name).toBe(name);
      expect((await expectSame(sheet))[0]).toMatchObject({ value: `cell of ${name}` });
    }
    expect(names(first)).toEqual(await printedNames());
    expect(names(second)).toEqual(await printedNames());
  });

  it("follow what others do with sheets, and formulas follow names", async () => {
    spreadsheet = await stack.create("others");
    const sheet = await open();
    await cellar("sheets", "add", "Data");
    await cellar("set", "Data!A1", "7");
    await cellar("set", "A1", "=Data!A1+1");
    await expectSame(sheet);
    await cellar("sheets", "rename", "Data", "New data");
    await expectSame(sheet);
    expect(sheet.cellAt(0, 0)?.formula).toBe("='New data'!A1+1");
    await cellar("sheets", "delete", "New data");
    await expectSame(sheet);
    await cellar("undo", "0.5");
    await expectSame(sheet);
    expect(names(sheet)).toEqual(await printedNames());
    expect(sheet.sheets).toHaveLength(2);
  });

  it("undo an edit that was just made", async () => {
    spreadsheet = await stack.create("quick undo");
    const sheet = await open();
    sheet.setCells([{ row: 0, column: 0, input: "1" }]);
    expect(await sheet.undo()).toMatch(/^(Undid|Removed)/);
    sheet.setCells([{ row: 0, column: 0, input: "2" }]);
    await support.settle(stack, spreadsheet, [sheet]);
    sheet.setCells([{ row: 0, column: 0, input: "3" }]);
    await support.until(() => sheet.cellAt(0, 0)?.value === 3, "the edit is shown");
    expect(await sheet.undo()).toMatch(/^(Undid|Removed)/);
    await expectSame(sheet);
    expect(sheet.cellAt(0, 0)?.value).toBe(2);
  });

  it("are brought back by undo", async () => {
    spreadsheet = await stack.create("undo");
    const sheet = await open();
    sheet.setCells([{ row: 0, column: 0, input: "1" }]);
    await support.settle(stack, spreadsheet, [sheet]);
    sheet.setCells([{ row: 0, column: 0, input: "2" }, { row: 1, column: 1, input: "=A1" }]);
    await support.settle(stack, spreadsheet, [sheet]);
    sheet.deleteRows(0, 1);
    await expectSame(sheet);
    expect(await sheet.undo()).toMatch(/^Undid/);
    await expectSame(sheet);
    expect(sheet.cellAt(0, 0)?.value).toBe(2);
    expect(await sheet.undo()).toMatch(/^Undid/);
    await expectSame(sheet);
    expect(sheet.cellAt(0, 0)?.value).toBe(1);
    expect(await sheet.redo()).toMatch(/^Redid/);
    expect(await sheet.redo()).toMatch(/^Redid/);
    await expectSame(sheet);
    expect(await sheet.redo()).toBe("There is nothing to redo");
    sheet.addSheet("More");
    await support.settle(stack, spreadsheet, [sheet]);
    expect(await sheet.undo()).toMatch(/^Undid/);
    await support.settle(stack, spreadsheet, [sheet]);
    expect(names(sheet)).toEqual(["Sheet1"]);
  });
});
