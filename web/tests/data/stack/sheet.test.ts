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

describe.skipIf(!HAS_STACK)("a sheet of a real stack", () => {
  beforeAll(async () => {
    stack = await startStack();
  }, 30_000);
  afterAll(async () => stack.stop());
  afterEach(() => {
    for (const sheet of opened.splice(0)) sheet.close();
  });

  it("shows what the command shows: values, texts, formulas, errors, spilled cells", async () => {
    spreadsheet = await stack.create("values");
    await cellar("set", "A1", "3", "B1", "=A1+1", "C1", "=SEQUENCE(3)", "D1", "=1/0", "E1", "2026-01-02", "F1", "1250.50");
    await cellar("set", "A2", "TRUE", "B2", "-0.5", "D2", "#N/A", "A4", "=SUM(A1:A3)", "G1", "1e300", "H1", "007");
    await cellar("set", "--text", "I1", "=1", "I2", "'x", "I3", " spaces ");
    const sheet = await open();
    const cells = await expectSame(sheet);
    expect(cells.find(({ row, column }) => row === 1 && column === 2)).toMatchObject({ value: 2, filled_by: "C1" });
    expect(sheet.cellAt(0, 2)).toMatchObject({ fills: "C1:C3", formula: "=SEQUENCE(3)" });
    expect(sheet.cellAt(0, 1)).toEqual({ row: 0, column: 1, value: 4, text: "4", formula: "=A1+1" });
  });

  it("stores what is typed as the command does", async () => {
    spreadsheet = await stack.create("typing");
    const inputs = ["3", "=A1+1", "=SEQUENCE(2,3)", "=1/0", "2026-01-02", "1250.50", "TRUE", "-0.5", "#N/A", "007", "text", "12%", "1,250", "10:30:00", "1e5", "-7.00"];
    const sheet = await open();
    sheet.setCells(inputs.map((input, index) => ({ row: 3 * index, column: 0, input })));
    await expectSame(sheet);
    const typed = support.shown(sheet);
    spreadsheet = await stack.create("typing by command");
    await cellar("set", ...inputs.flatMap((input, index) => [`A${3 * index + 1}`, input]));
    expect(typed).toEqual(await support.printed(stack, spreadsheet));
  });

  it("shows a typed formula while it is pending, and then the server's value", async () => {
    spreadsheet = await stack.create("formula");
    const sheet = await open();
    sheet.setCells([{ row: 0, column: 0, input: "20" }, { row: 0, column: 1, input: "=A1*2" }]);
    await support.until(() => sheet.cellAt(0, 1) !== undefined, "the formula is shown");
    expect(sheet.cellAt(0, 1)).toMatchObject({ formula: "=A1*2", text: "=A1*2", stale: true, pending: true });
    await support.until(() => sheet.cellAt(0, 1)?.value === 40, "the value is shown");
    expect(sheet.cellAt(0, 1)).toEqual({ row: 0, column: 1, value: 40, text: "40", formula: "=A1*2" });
    sheet.setCells([{ row: 0, column: 0, input: "21" }]);
    await support.until(() => sheet.cellAt(0, 1)?.value === 42, "the value follows");
    sheet.setCells([{ row: 0, column: 1, input: "" }]);
    await expectSame(sheet);
  });

  it("inserts and deletes rows and columns, and moves formulas", async () => {
    spreadsheet = await stack.create("moves");
    await cellar("set", "A1", "1", "A2", "2", "A3", "=SUM(A1:A2)", "B1", "=A3", "C5", "x");
    const sheet = await open();
    sheet.insertRows(1, 2);
    sheet.setCells([{ row: 1, column: 0, input: "10" }, { row: 2, column: 0, input: "=A1" }]);
    await expectSame(sheet);
    sheet.insertColumns(0, 1);
    sheet.deleteRows(0, 1);
    sheet.deleteColumns(3, 1);
    sheet.setCells([{ row: 0, column: 5, input: "=B1" }]);
    await expectSame(sheet);
    expect(sheet.extent.rows).toBeGreaterThan(3);
  });

  it("loads spilled cells beyond the used range", async () => {
    spreadsheet = await stack.create("spill");
    await cellar("set", "A1", "=SEQUENCE(1000)");
    const sheet = await open();
    const far = { firstRow: 900, rowCount: 20, firstColumn: 0, columnCount: 2 };
    sheet.request(far);
    await support.until(() => sheet.cellAt(919, 0)?.value === 920, "a far spilled cell is shown");
    expect(sheet.extent.rows).toBe(1_000);
    sheet.setCells([{ row: 5, column: 0, input: "in the way" }]);
    await support.until(() => sheet.cellAt(919, 0) === undefined, "the spill has ended");
    await cellar("set", "B2", "=SEQUENCE(930)");
    await support.until(() => sheet.cellAt(919, 1)?.value === 919, "a spill that another client made is shown");
    sheet.request(support.WINDOW);
    await expectSame(sheet);
  });

  it("shows errors in formulas and refuses none", async () => {
    spreadsheet = await stack.create("errors");
    const sheet = await open();
    const inputs = ["=FOO(1)", "=A1", "=Missing!A1", "=1+", "=\"x\"+1", "=B1:B3*2", "=NOW()>0"];
    sheet.setCells(inputs.map((input, column) => ({ row: 0, column, input })));
    await expectSame(sheet);
  });
});
