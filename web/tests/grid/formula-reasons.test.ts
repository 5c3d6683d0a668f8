import { describe, expect, test } from "vitest";
import type { Cell, SheetSource } from "../../src/data/types";
import { explain } from "../../src/grid/cell-reasons";
import { explainAt } from "../../src/grid/formula-reasons";

const at = { row: 0, column: 0 };
const error = (value: string, more: Partial<Cell> = {}): Cell => ({ ...at, value: { error: value }, text: value, ...more });

/** A sheet with the given cells. */
function sheet(cells: readonly Cell[]): SheetSource {
  const sheets = [{ sheet: 1, name: "Sheet1", extent: { rows: 9, columns: 9 } }];
  return { sheet: 1, sheets, cellAt: (row: number, column: number) => cells.find((cell) => cell.row === row && cell.column === column) } as unknown as SheetSource;
}

describe("explanations", () => {
  test("each error value that the server calculates has a reason of its own", () => {
    const values = ["#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#SPILL!", "#CALC!", "#BUSY!"];
    const reasons = values.map((value) => explain(error(value)).join());
    expect(new Set(reasons.map((reason) => reason.split(": ")[1])).size).toBe(values.length);
    for (const [index, reason] of reasons.entries()) expect(reason.startsWith(`${values[index]}: `)).toBe(true);
  });

  test("a cycle is explained as one, and names its cells", () => {
    const [line, ...rest] = explain(error("#REF!", { note: "the formula depends on itself: A1, B2, A1" }));
    expect(line).toBe("#REF!: The formula depends on itself: A1, B2, A1. Change one of the formulas that depend on each other.");
    expect(rest).toEqual([]);
  });

  test("the note of the server follows", () => {
    expect(explain(error("#SPILL!", { note: "the result needs C9, which is not empty" })).at(-1)).toBe("The result needs C9, which is not empty.");
    const stale: Cell = { ...at, value: 12, text: "12", stale: true, note: "not calculated: too many cells" };
    expect(explain(stale)).toEqual(["Stale: this value was not calculated after the last change.", "Not calculated: too many cells."]);
  });

  test("a filled cell names the formula that fills it", () => {
    const source = sheet([{ ...at, value: 1, text: "1", formula: "=SEQUENCE(3)", fills: "A1:A3" }, { row: 1, column: 0, value: 2, text: "2", filledBy: "A1" }]);
    expect(explainAt(source, { row: 1, column: 0 })).toEqual(["Filled by the formula in A1.", "=SEQUENCE(3)"]);
  });

  test("an error names the cell that it comes from, not itself and not another error", () => {
    const source = sheet([
      error("#N/A", { formula: "=SUM(A1:B3)" }),
      { ...error("#NUM!"), row: 0, column: 1 },
      { ...error("#N/A"), row: 2, column: 1 },
    ]);
    expect(explainAt(source, at).at(-1)).toBe("B3 has this error too.");
    expect(explainAt(source, { row: 2, column: 1 }).length).toBe(1);
  });

  test("whole columns do not take long", () => {
    const start = performance.now();
    explainAt(sheet([error("#N/A", { formula: "=SUM(B:D)+SUM(1:1048576)" })]), at);
    expect(performance.now() - start).toBeLessThan(200);
  });

  test("a plain cell needs no explanation", () => {
    expect(explainAt(sheet([{ ...at, value: 5, text: "5", formula: "=2+3" }]), at)).toEqual([]);
    expect(explainAt(sheet([]), at)).toEqual([]);
  });
});
