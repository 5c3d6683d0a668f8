import "../src/grid/index";
import type { Cell, CellTrace } from "../src/data/types";
import { FakeSource } from "./fake-source";

const ERRORS: readonly Omit<Cell, "row" | "column">[] = [
  { value: { error: "#DIV/0!" }, text: "#DIV/0!", formula: "=C4/0" },
  { value: { error: "#REF!" }, text: "#REF!", formula: "=N4+1", note: "cycle: N3 -> N4 -> N3" },
  { value: { error: "#SPILL!" }, text: "#SPILL!", formula: "=SEQUENCE(9)", note: "C9 is not empty" },
  { value: 12, text: "12", formula: "=SUM(C2:C9)*D2", stale: true, note: "not calculated: the cells depend on more than 200000 formulas" },
  { value: 12, text: "12", formula: "=SUM(C2:C9)*D2" },
];

/** Formulas with errors in column N, defined names, and a trace that takes a moment. */
class FormulaSource extends FakeSource {
  readonly names = ["tax_rate", "Total"];

  override cellAt(row: number, column: number): Cell | undefined {
    const known = this.sheet === 1 && column === 13 ? ERRORS[row - 1] : undefined;
    return super.cellAt(row, column) ?? (known && { row, column, ...known });
  }

  trace(row: number, column: number): Promise<CellTrace> {
    const dependent = { sheet: 1, firstRow: row + 1, rowCount: 1, firstColumn: column + 1, columnCount: 1 };
    return new Promise((resolve) => setTimeout(() => resolve({ precedents: [], dependents: [dependent] }), 20));
  }
}

document.querySelector("cellar-grid")!.source = new FormulaSource();
