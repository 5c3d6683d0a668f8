import type { Cell, Extent, LayoutShift } from "../src/data/types";

/** A sheet of the fake source: sample cells by their address, and what was typed. */
export class FakeSheet {
  private edits = new Map<string, string>();
  private readonly shifts: LayoutShift[] = [];
  private typedExtent: Extent = { rows: 0, columns: 0 };

  constructor(
    readonly sheet: number,
    public name: string,
    private readonly sampleExtent: Extent,
    readonly hasSamples: boolean,
  ) {}

  get extent(): Extent {
    const { sampleExtent, typedExtent } = this;
    return { rows: Math.max(sampleExtent.rows, typedExtent.rows), columns: Math.max(sampleExtent.columns, typedExtent.columns) };
  }

  cellAt(row: number, column: number): Cell | undefined {
    const input = this.edits.get(`${row}/${column}`);
    if (input !== undefined) return input === "" ? undefined : typedCell(row, column, input);
    if (!this.hasSamples || column >= this.sampleExtent.columns || row >= this.sampleExtent.rows) return undefined;
    const sampleRow = this.sampleIndex(row, "rows");
    const sampleColumn = this.sampleIndex(column, "columns");
    if (sampleRow === null || sampleColumn === null) return undefined;
    const cell = sampleCell(sampleRow, sampleColumn);
    return cell && { ...cell, row, column };
  }

  set(row: number, column: number, input: string): void {
    this.edits.set(`${row}/${column}`, input);
    const { rows, columns } = this.typedExtent;
    this.typedExtent = { rows: Math.max(rows, row + 1), columns: Math.max(columns, column + 1) };
  }

  shift(shift: LayoutShift): void {
    this.shifts.push(shift);
    const moved = new Map<string, string>();
    for (const [key, input] of this.edits) {
      const [row, column] = key.split("/").map(Number) as [number, number];
      const index = shift.axis === "rows" ? row : column;
      if (index >= shift.at && index < shift.at - shift.count) continue;
      const next = index < shift.at ? index : index + shift.count;
      moved.set(shift.axis === "rows" ? `${next}/${column}` : `${row}/${next}`, input);
    }
    this.edits = moved;
  }

  /** Returns where a row or column was before all insertions and deletions, or null if it was inserted. */
  private sampleIndex(index: number, axis: LayoutShift["axis"]): number | null {
    let at = index;
    for (const shift of [...this.shifts].reverse()) {
      if (shift.axis !== axis || at < shift.at) continue;
      if (at < shift.at + shift.count) return null;
      at -= shift.count;
    }
    return at;
  }
}

function typedCell(row: number, column: number, input: string): Cell {
  const base = { row, column, pending: true };
  if (input.startsWith("'")) return { ...base, value: input.slice(1), text: input.slice(1) };
  if (input.startsWith("=")) return { ...base, value: 0, text: "0", formula: input.slice(1), stale: true };
  const date = /^\d{4}-\d\d-\d\d$/.test(input) ? Date.parse(input) : NaN;
  if (Number.isFinite(date)) return { ...base, value: date / 86_400_000 + 25_569, text: input, format: "yyyy-mm-dd" };
  const number = Number(input);
  return Number.isFinite(number) ? { ...base, value: number, text: input } : { ...base, value: input, text: input };
}

function sampleCell(row: number, column: number): Cell | undefined {
  const at = { row, column };
  if (row === 0) return { ...at, value: `Column ${column + 1}`, text: `Column ${column + 1}` };
  if (column === 0) return { ...at, value: row + 1, text: (row + 1).toLocaleString("en-US") };
  if (column === 1) return { ...at, value: `Station ${(row * 7919) % 997}`, text: `Station ${(row * 7919) % 997}` };
  if (column === 4 && row % 9 === 3) return { ...at, value: { error: "#DIV/0!" }, text: "#DIV/0!", formula: "C4/0" };
  if (column === 5 && row % 5 === 2) return { ...at, value: true, text: "TRUE" };
  if (column === 6 && row >= 4 && row <= 9) return filledCell(row);
  if (column === 7 && row % 6 === 1) return { ...at, value: 17, text: "17", formula: "SUM(C:C)", stale: true };
  if (column === 8 && row % 4 === 0) return undefined;
  const value = Math.round(Math.abs(Math.sin(row * 12.9898 + column * 78.233)) * 1e6) / 100;
  return { ...at, value, text: value.toFixed(2), ...(column === 3 && row === 5 ? { note: "Checked by hand" } : {}) };
}

function filledCell(row: number): Cell {
  const cell = { row, column: 6, value: row - 3, text: String(row - 3) };
  return row === 4 ? { ...cell, formula: "SEQUENCE(6)", fills: "G5:G10" } : { ...cell, filledBy: "G5" };
}
