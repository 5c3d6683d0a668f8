import type { Cell, CellInput, Extent, Range, SheetChange, SheetInfo, SheetSource, SheetStatus } from "../src/data/types";

const BLOCK_ROWS = 128;
const LOAD_MS = 30;

/** A source without a server: cells are computed from their address, and loaded after a delay. */
export class FakeSource implements SheetSource {
  readonly sheets: readonly SheetInfo[] = [
    { sheet: 1, name: "Readings", extent: { rows: 2 ** 30, columns: 12 } },
    { sheet: 2, name: "Empty", extent: { rows: 0, columns: 0 } },
  ];
  sheet = 1;
  status: SheetStatus = { position: "0.4711", pending: 0, oldestPendingMs: null, isOnline: true, role: "editor", problem: null };
  private readonly edits = new Map<string, string>();
  private readonly loaded = new Set<number>();
  private readonly listeners = new Set<(change: SheetChange) => void>();
  private timers: number[] = [];

  get extent(): Extent {
    return this.sheets.find((info) => info.sheet === this.sheet)!.extent;
  }

  selectSheet(sheet: number): void {
    this.sheet = sheet;
    this.tell({ kind: "sheets" });
  }

  cellAt(row: number, column: number): Cell | undefined {
    if (!this.isLoaded(row, column)) return undefined;
    const input = this.edits.get(`${this.sheet}/${row}/${column}`);
    if (input !== undefined) return input === "" ? undefined : typedCell(row, column, input);
    if (this.sheet !== 1 || column >= 12 || row >= 2 ** 30) return undefined;
    return sampleCell(row, column);
  }

  isLoaded(row: number, _column: number): boolean {
    return this.sheet !== 1 || this.loaded.has(Math.floor(row / BLOCK_ROWS));
  }

  request(range: Range): void {
    for (const timer of this.timers) clearTimeout(timer);
    const first = Math.floor(range.firstRow / BLOCK_ROWS);
    const last = Math.floor((range.firstRow + range.rowCount) / BLOCK_ROWS);
    const load = (): void => {
      for (let block = first; block <= last; block++) this.loaded.add(block);
      this.tell({ kind: "cells", ranges: [range] });
    };
    this.timers = [window.setTimeout(load, LOAD_MS)];
  }

  subscribe(listener: (change: SheetChange) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  setCells(inputs: readonly CellInput[]): void {
    for (const { row, column, input } of inputs) this.edits.set(`${this.sheet}/${row}/${column}`, input);
    this.status = { ...this.status, pending: this.status.pending + 1, oldestPendingMs: 4_000 };
    this.tell({ kind: "cells", ranges: [] });
  }

  insertRows(): void { this.tell({ kind: "layout" }); }
  deleteRows(): void { this.tell({ kind: "layout" }); }
  insertColumns(): void { this.tell({ kind: "layout" }); }
  deleteColumns(): void { this.tell({ kind: "layout" }); }

  addSheet(): void { this.tell({ kind: "sheets" }); }
  renameSheet(): void { this.tell({ kind: "sheets" }); }
  deleteSheet(): void { this.tell({ kind: "sheets" }); }

  undo(): Promise<string> { return Promise.resolve("Nothing to undo"); }
  redo(): Promise<string> { return Promise.resolve("Nothing to redo"); }
  close(): void { this.listeners.clear(); }

  private tell(change: SheetChange): void {
    for (const listener of this.listeners) listener(change);
  }
}

function typedCell(row: number, column: number, input: string): Cell {
  const base = { row, column, pending: true };
  if (input.startsWith("'")) return { ...base, value: input.slice(1), text: input.slice(1) };
  if (input.startsWith("=")) return { ...base, value: 0, text: "0", formula: input.slice(1), stale: true };
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
