import type { Cell, CellInput, Extent, LayoutShift, Range, SheetChange, OtherSelection, SheetInfo, SheetRange, SheetSource, SheetStatus } from "../src/data/types";
import { FakeSheet } from "./fake-sheet";

const BLOCK_ROWS = 128;
const LOAD_MS = 30;

/** A source without a server: cells are computed from their address, and loaded after a delay. */
export class FakeSource implements SheetSource {
  sheet = 1;
  status: SheetStatus = { position: "0.4711", pending: 0, oldestPendingMs: null, isOnline: true, role: "editor", problem: null };
  /** Edits in the order in which they were made, for tests. */
  readonly log: string[] = [];
  others: readonly OtherSelection[] = [];
  /** What the grid reported as selected, for tests. */
  readonly announced: (SheetRange | null)[] = [];
  private contents = [
    new FakeSheet(1, "Readings", { rows: 2 ** 30, columns: 12 }, true),
    new FakeSheet(2, "Empty", { rows: 0, columns: 0 }, false),
  ];
  private readonly loaded = new Set<string>();
  private readonly listeners = new Set<(change: SheetChange) => void>();
  private timer = 0;

  get sheets(): readonly SheetInfo[] {
    return this.contents.map(({ sheet, name, extent }) => ({ sheet, name, extent }));
  }

  get extent(): Extent {
    return this.shown.extent;
  }

  private get shown(): FakeSheet {
    return this.contents.find((info) => info.sheet === this.sheet) ?? this.contents[0]!;
  }

  selectSheet(sheet: number): void {
    this.sheet = sheet;
    this.emit({ kind: "layout" });
  }

  cellAt(row: number, column: number): Cell | undefined {
    return this.isLoaded(row, column) ? this.shown.cellAt(row, column) : undefined;
  }

  isLoaded(row: number, _column: number): boolean {
    return !this.shown.hasSamples || this.loaded.has(`${this.sheet}/${Math.floor(row / BLOCK_ROWS)}`);
  }

  request(range: Range): void {
    clearTimeout(this.timer);
    const { sheet } = this;
    const first = Math.floor(range.firstRow / BLOCK_ROWS);
    const last = Math.floor((range.firstRow + range.rowCount) / BLOCK_ROWS);
    this.timer = window.setTimeout(() => {
      for (let block = first; block <= last; block++) this.loaded.add(`${sheet}/${block}`);
      this.emit({ kind: "cells", ranges: [range] });
    }, LOAD_MS);
  }

  subscribe(listener: (change: SheetChange) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  setCells(inputs: readonly CellInput[]): void {
    this.log.push(`setCells ${inputs.length}`);
    for (const { row, column, input } of inputs) this.shown.set(row, column, input);
    this.status = { ...this.status, pending: this.status.pending + 1, oldestPendingMs: 4_000 };
    this.emit({ kind: "cells", ranges: [] });
  }

  insertRows(before: number, count: number): void { this.shift({ axis: "rows", at: before, count }); }
  deleteRows(first: number, count: number): void { this.shift({ axis: "rows", at: first, count: -count }); }
  insertColumns(before: number, count: number): void { this.shift({ axis: "columns", at: before, count }); }
  deleteColumns(first: number, count: number): void { this.shift({ axis: "columns", at: first, count: -count }); }

  addSheet(name: string): void {
    const sheet = Math.max(0, ...this.contents.map((info) => info.sheet)) + 1;
    this.contents.push(new FakeSheet(sheet, name, { rows: 0, columns: 0 }, false));
    this.emit({ kind: "sheets" });
  }

  renameSheet(sheet: number, name: string): void {
    for (const info of this.contents) if (info.sheet === sheet) info.name = name;
    this.emit({ kind: "sheets" });
  }

  deleteSheet(sheet: number): void {
    this.contents = this.contents.filter((info) => info.sheet !== sheet);
    if (sheet === this.sheet) this.sheet = this.contents[0]!.sheet;
    this.emit({ kind: "sheets" });
  }

  undo(): Promise<string> { return Promise.resolve("Nothing to undo"); }
  redo(): Promise<string> { return Promise.resolve("Nothing to redo"); }
  close(): void { this.listeners.clear(); }

  /** Sets the status, such as the role, as the server would. */
  setStatus(status: Partial<SheetStatus>): void {
    this.status = { ...this.status, ...status };
    this.emit({ kind: "status" });
  }

  announce(selection: SheetRange | null): void {
    this.announced.push(selection);
  }

  /** Shows selections as those of other clients. */
  setOthers(others: readonly OtherSelection[]): void {
    this.others = others;
    this.emit({ kind: "others" });
  }

  private shift(shift: LayoutShift): void {
    this.log.push(`${shift.axis} ${shift.at} ${shift.count}`);
    this.shown.shift(shift);
    this.emit({ kind: "layout", ...shift });
  }

  private emit(change: SheetChange): void {
    for (const listener of this.listeners) listener(change);
  }
}
