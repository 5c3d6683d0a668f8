import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MAX_ROWS } from "../../../src/data/limits";
import { HAS_STACK, startStack, type Stack } from "../../stack";
import * as support from "./support";

let stack: Stack;

const cellAt = (sheet: number, firstRow: number, firstColumn: number) => ({ sheet, firstRow, rowCount: 1, firstColumn, columnCount: 1 });

describe.skipIf(!HAS_STACK)("formulas of a real stack", () => {
  beforeAll(async () => {
    stack = await startStack();
  }, 30_000);
  afterAll(async () => stack.stop());

  it("are traced to what they read and to what reads them", async () => {
    const spreadsheet = await stack.create("trace");
    const sheet = await support.open(stack, spreadsheet);
    try {
      sheet.setCells([
        { row: 0, column: 0, input: "2" },
        { row: 0, column: 1, input: "=A1*2" },
        { row: 1, column: 1, input: "=SUM(A1:A3)+SUM(C:C)" },
      ]);
      await support.until(() => sheet.status.pending === 0, "the formulas are stored");
      const read = await sheet.trace!(0, 0);
      expect(read).toEqual({ precedents: [], dependents: [cellAt(0, 0, 1), cellAt(0, 1, 1)] });
      const { precedents } = await sheet.trace!(1, 1);
      const column = { sheet: 0, firstRow: 0, rowCount: MAX_ROWS, firstColumn: 2, columnCount: 1 };
      expect(precedents).toEqual([{ ...cellAt(0, 0, 0), rowCount: 3 }, column]);
    } finally {
      sheet.close();
    }
  });

  it("may use the defined names, which are listed", async () => {
    const spreadsheet = await stack.create("names");
    await stack.cellar("names", "set", "TAX", "=0.19", "-s", spreadsheet);
    const sheet = await support.open(stack, spreadsheet);
    expect(sheet.names).toEqual(["TAX"]);
    sheet.close();
  });
});
