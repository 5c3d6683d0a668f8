import type { Range } from "../data/types";
import type { CellAddress } from "./address";

/**
 * The selected ranges and the active cell, which takes what is typed.
 *
 * The last range is the current one: Shift extends it from `active` to `head`.
 */
export interface Selection {
  active: CellAddress;
  head: CellAddress;
  ranges: readonly Range[];
}

export interface GridSize {
  rows: number;
  columns: number;
}

export type SelectionMode = "replace" | "extend" | "add";

function rangeBetween(a: CellAddress, b: CellAddress): Range {
  return {
    firstRow: Math.min(a.row, b.row),
    rowCount: Math.abs(a.row - b.row) + 1,
    firstColumn: Math.min(a.column, b.column),
    columnCount: Math.abs(a.column - b.column) + 1,
  };
}

export function selectCell(row: number, column: number): Selection {
  const cell = { row, column };
  return { active: cell, head: cell, ranges: [rangeBetween(cell, cell)] };
}

/** Selects a cell, extends the current range to it, or adds it as a further range. */
export function pickCell(selection: Selection, cell: CellAddress, mode: SelectionMode): Selection {
  if (mode === "replace") return selectCell(cell.row, cell.column);
  if (mode === "add") return { active: cell, head: cell, ranges: [...selection.ranges, rangeBetween(cell, cell)] };
  return { ...selection, head: cell, ranges: [...selection.ranges.slice(0, -1), rangeBetween(selection.active, cell)] };
}

/** Selects whole rows from the active row (`extend`) or from `row` to `row`. */
export function pickRow(selection: Selection, row: number, mode: SelectionMode, size: GridSize): Selection {
  const active = mode === "extend" ? { row: selection.active.row, column: 0 } : { row, column: 0 };
  const head = { row, column: size.columns - 1 };
  return { active, head, ranges: [...keptRanges(selection, mode), rangeBetween(active, head)] };
}

export function pickColumn(selection: Selection, column: number, mode: SelectionMode, size: GridSize): Selection {
  const active = mode === "extend" ? { row: 0, column: selection.active.column } : { row: 0, column };
  const head = { row: size.rows - 1, column };
  return { active, head, ranges: [...keptRanges(selection, mode), rangeBetween(active, head)] };
}

/** Extends the active cell's range to whole rows or columns, like Shift+Space and Ctrl+Space. */
export function widen(selection: Selection, axis: "rows" | "columns", size: GridSize): Selection {
  const range = currentRange(selection);
  const wide: Range =
    axis === "rows"
      ? { ...range, firstColumn: 0, columnCount: size.columns }
      : { ...range, firstRow: 0, rowCount: size.rows };
  const head = { row: lastRow(wide), column: lastColumn(wide) };
  return { active: selection.active, head, ranges: [...selection.ranges.slice(0, -1), wide] };
}

/** Selects everything. The active cell stays, so that the view does. */
export function selectAll(selection: Selection, size: GridSize): Selection {
  const all = { firstRow: 0, rowCount: size.rows, firstColumn: 0, columnCount: size.columns };
  return { active: selection.active, head: { row: size.rows - 1, column: size.columns - 1 }, ranges: [all] };
}

/** Keeps whole rows and columns whole when the grid grows. */
export function growWhole(selection: Selection, from: GridSize, to: GridSize): Selection {
  if (from.rows === to.rows && from.columns === to.columns) return selection;
  const ranges = selection.ranges.map((range) => ({
    ...range,
    rowCount: range.rowCount >= from.rows ? to.rows : range.rowCount,
    columnCount: range.columnCount >= from.columns ? to.columns : range.columnCount,
  }));
  return { ...selection, ranges };
}

export function selectRange(range: Range): Selection {
  const active = { row: range.firstRow, column: range.firstColumn };
  return { active, head: { row: lastRow(range), column: lastColumn(range) }, ranges: [range] };
}

/**
 * Moves the active cell by Enter or Tab. Inside a range it cycles through the cells of all ranges, otherwise the
 * selection moves.
 */
export function advance(selection: Selection, axis: "rows" | "columns", step: 1 | -1, size: GridSize): Selection {
  if (isSingleCell(selection)) {
    const { row, column } = selection.active;
    return axis === "rows"
      ? selectCell(clampIndex(row + step, size.rows), column)
      : selectCell(row, clampIndex(column + step, size.columns));
  }
  return { ...selection, active: nextInRanges(selection, axis, step) };
}

function nextInRanges(selection: Selection, axis: "rows" | "columns", step: 1 | -1): CellAddress {
  const { active, ranges } = selection;
  const slot = Math.max(0, ranges.findIndex((range) => contains(range, active.row, active.column)));
  const range = ranges[slot]!;
  const inner = axis === "rows" ? range.rowCount : range.columnCount;
  const row = active.row - range.firstRow;
  const column = active.column - range.firstColumn;
  const index = (axis === "rows" ? column * inner + row : row * inner + column) + step;
  if (index >= 0 && index < range.rowCount * range.columnCount) return cellOf(range, axis, index);
  const next = ranges[(slot + step + ranges.length) % ranges.length]!;
  return cellOf(next, axis, step > 0 ? 0 : next.rowCount * next.columnCount - 1);
}

function cellOf(range: Range, axis: "rows" | "columns", index: number): CellAddress {
  const inner = axis === "rows" ? range.rowCount : range.columnCount;
  const minor = index % inner;
  const major = Math.floor(index / inner);
  return axis === "rows"
    ? { row: range.firstRow + minor, column: range.firstColumn + major }
    : { row: range.firstRow + major, column: range.firstColumn + minor };
}

export function isSingleCell(selection: Selection): boolean {
  const range = currentRange(selection);
  return selection.ranges.length === 1 && range.rowCount === 1 && range.columnCount === 1;
}

export function currentRange(selection: Selection): Range {
  return selection.ranges[selection.ranges.length - 1]!;
}

export function contains(range: Range, row: number, column: number): boolean {
  return row >= range.firstRow && row <= lastRow(range) && column >= range.firstColumn && column <= lastColumn(range);
}

export function someCell(range: Range, isFound: (row: number, column: number) => boolean): boolean {
  for (let row = range.firstRow; row <= lastRow(range); row++) {
    for (let column = range.firstColumn; column <= lastColumn(range); column++) if (isFound(row, column)) return true;
  }
  return false;
}

export function lastRow(range: Range): number {
  return range.firstRow + range.rowCount - 1;
}

export function lastColumn(range: Range): number {
  return range.firstColumn + range.columnCount - 1;
}

export function clampIndex(index: number, count: number): number {
  return Math.max(0, Math.min(index, count - 1));
}

function keptRanges(selection: Selection, mode: SelectionMode): readonly Range[] {
  if (mode === "replace") return [];
  return mode === "add" ? selection.ranges : selection.ranges.slice(0, -1);
}

/** Returns the part of a range inside another, or null. */
export function intersect(a: Range, b: Range): Range | null {
  const firstRow = Math.max(a.firstRow, b.firstRow);
  const firstColumn = Math.max(a.firstColumn, b.firstColumn);
  const rowCount = Math.min(lastRow(a), lastRow(b)) - firstRow + 1;
  const columnCount = Math.min(lastColumn(a), lastColumn(b)) - firstColumn + 1;
  return rowCount > 0 && columnCount > 0 ? { firstRow, rowCount, firstColumn, columnCount } : null;
}

/**
 * Returns the part of a selected range that has cells. A small range is returned as it is: its last cells may be waiting
 * edits after the end of the sheet.
 */
export function usedPart(range: Range, extent: GridSize, cellLimit: number): Range | null {
  if (range.rowCount * range.columnCount <= cellLimit) return range;
  return intersect(range, { firstRow: 0, rowCount: extent.rows, firstColumn: 0, columnCount: extent.columns });
}

export function mapCells<T>(range: Range, read: (row: number, column: number) => T): T[][] {
  return Array.from({ length: range.rowCount }, (_, y) =>
    Array.from({ length: range.columnCount }, (_, x) => read(range.firstRow + y, range.firstColumn + x)),
  );
}
