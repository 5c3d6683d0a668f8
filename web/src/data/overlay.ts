/** The predicted results of pending edits, shown over the cells of the server. */

import { AxisMap } from "./axis-map";
import { MAX_COLUMNS, MAX_ROWS } from "./limits";
import { axisChangeOf } from "./space-map";
import { movedRange } from "./ranges";
import type { CellValue, Extent, Range } from "./types";
import type { CellEdit, Operation } from "./wire";

/** What pending edits set in a cell. Without `hasContent`, the server's value shows through. */
export interface PendingCell {
  hasContent: boolean;
  value: CellValue;
  formula?: string;
  format?: string;
}

interface SheetOverlay {
  /** From the server's rows to the displayed ones. */
  rows: AxisMap;
  columns: AxisMap;
  /** By displayed row · MAX_COLUMNS + displayed column, which is below 2⁵³. */
  cells: Map<number, PendingCell>;
  extent: Extent | null;
}

const keyOf = (row: number, column: number) => row * MAX_COLUMNS + column;

export class Overlay {
  readonly #sheets = new Map<number, SheetOverlay>();

  /** Adds an operation in displayed coordinates. `serverExtent` is that of its sheet. */
  apply(operation: Operation, serverExtent: Extent): void {
    if (!("sheet" in operation)) return;
    const sheet = this.#sheets.get(operation.sheet) ?? newSheetOverlay();
    this.#sheets.set(operation.sheet, sheet);
    sheet.extent = extentAfter(sheet.extent ?? serverExtent, operation);
    if (operation.kind === "setCells") {
      for (const edit of operation.cells) mergeEdit(sheet.cells, edit);
    }
    const change = axisChangeOf(operation);
    if (change === undefined) return;
    sheet[change.axis] = sheet[change.axis].then(change.map);
    sheet.cells = movedCells(sheet.cells, change.axis, change.map);
  }

  cell(sheet: number, row: number, column: number): PendingCell | undefined {
    return this.#sheets.get(sheet)?.cells.get(keyOf(row, column));
  }

  /** Returns where cells of the server are displayed. */
  shown(sheet: number, range: Range): Range[] {
    const overlay = this.#sheets.get(sheet);
    if (overlay === undefined) return [range];
    return movedRange(range, "rows", overlay.rows).flatMap((moved) => movedRange(moved, "columns", overlay.columns));
  }

  /** Returns the server's row and column of a displayed cell, or undefined if it is inserted. */
  source(sheet: number, row: number, column: number): { row: number; column: number } | undefined {
    const overlay = this.#sheets.get(sheet);
    if (overlay === undefined) return { row, column };
    const [sourceRow, sourceColumn] = [overlay.rows.source(row), overlay.columns.source(column)];
    if (sourceRow === undefined || sourceColumn === undefined) return undefined;
    return { row: sourceRow, column: sourceColumn };
  }

  /** From the server's rows and columns to the displayed ones. */
  axisMaps(sheet: number): { rows: AxisMap; columns: AxisMap } {
    return this.#sheets.get(sheet) ?? newSheetOverlay();
  }

  extent(sheet: number): Extent | null {
    return this.#sheets.get(sheet)?.extent ?? null;
  }
}

function newSheetOverlay(): SheetOverlay {
  const [rows, columns] = [AxisMap.identity(MAX_ROWS), AxisMap.identity(MAX_COLUMNS)];
  return { rows, columns, cells: new Map(), extent: null };
}

function mergeEdit(cells: Map<number, PendingCell>, edit: CellEdit): void {
  const key = keyOf(edit.row, edit.column);
  const cell: PendingCell = { ...(cells.get(key) ?? { hasContent: false, value: null }) };
  if (edit.value !== undefined || edit.formula !== undefined) {
    cell.hasContent = true;
    cell.value = edit.value ?? null;
    delete cell.formula;
    if (edit.formula !== undefined) cell.formula = edit.formula;
  }
  if (edit.format !== undefined) cell.format = edit.format;
  cells.set(key, cell);
}

function movedCells(cells: Map<number, PendingCell>, axis: "rows" | "columns", map: AxisMap) {
  const moved = new Map<number, PendingCell>();
  for (const [key, cell] of cells) {
    const [row, column] = [Math.floor(key / MAX_COLUMNS), key % MAX_COLUMNS];
    const newRow = axis === "rows" ? map.get(row) : row;
    const newColumn = axis === "columns" ? map.get(column) : column;
    if (newRow !== undefined && newColumn !== undefined) moved.set(keyOf(newRow, newColumn), cell);
  }
  return moved;
}

/** Returns the used range after an operation. The server's replies correct it. */
export function extentAfter(extent: Extent, operation: Operation): Extent {
  if (operation.kind === "setCells") {
    let { rows, columns } = extent;
    for (const { row, column } of operation.cells) {
      rows = Math.max(rows, row + 1);
      columns = Math.max(columns, column + 1);
    }
    return { rows, columns };
  }
  const change = axisChangeOf(operation);
  if (change === undefined || extent[change.axis] === 0) return extent;
  const kept = change.map.keptSpans([{ first: 0, count: extent[change.axis] }]);
  const last = kept[kept.length - 1];
  return { ...extent, [change.axis]: last === undefined ? 0 : last.first + last.count };
}
