import type { LayoutShift, Range } from "../data/types";
import type { CellAddress } from "./address";
import type { ScrollAction } from "./scroll";
import { clampIndex, contains, selectCell, type GridSize, type Selection } from "./selection";

/** Returns where a range is after an insertion or deletion, or null if all of it was deleted. */
export function shiftRange<T extends Range>(range: T, { axis, at, count }: LayoutShift): T | null {
  const [first, length] = axis === "rows" ? [range.firstRow, range.rowCount] : [range.firstColumn, range.columnCount];
  const start = first < at ? first : Math.max(at, first + count);
  const end = first + length <= at ? first + length : Math.max(at, first + length + count);
  if (end <= start) return null;
  return axis === "rows"
    ? { ...range, firstRow: start, rowCount: end - start }
    : { ...range, firstColumn: start, columnCount: end - start };
}

/** Returns where a cell is after an insertion or deletion, or null if it was deleted. */
export function shiftCell(cell: CellAddress, shift: LayoutShift): CellAddress | null {
  const range = shiftRange({ firstRow: cell.row, rowCount: 1, firstColumn: cell.column, columnCount: 1 }, shift);
  return range && { row: range.firstRow, column: range.firstColumn };
}

/** Moves the selection with its cells. Whole rows and columns stay whole; a deleted cell becomes the one in its place. */
export function shiftSelection(selection: Selection, shift: LayoutShift, size: GridSize): Selection {
  const isWhole = (range: Range) => (shift.axis === "rows" ? range.rowCount >= size.rows : range.columnCount >= size.columns);
  const moved = (cell: CellAddress): CellAddress => {
    const { row, column } = shiftCell(cell, shift) ?? cell;
    return { row: clampIndex(row, size.rows), column: clampIndex(column, size.columns) };
  };
  const ranges = selection.ranges.flatMap((range) => (isWhole(range) ? range : (shiftRange(range, shift) ?? [])));
  const active = moved(selection.active);
  const current = ranges[ranges.length - 1];
  if (!current) return selectCell(active.row, active.column);
  // A deleted cell may leave its range.
  const isInside = ranges.some((range) => contains(range, active.row, active.column));
  return { active: isInside ? active : inside(current, active), head: inside(current, moved(selection.head)), ranges };
}

function inside(range: Range, { row, column }: CellAddress): CellAddress {
  return {
    row: range.firstRow + clampIndex(row - range.firstRow, range.rowCount),
    column: range.firstColumn + clampIndex(column - range.firstColumn, range.columnCount),
  };
}

export function scrollOfShift({ axis, at, count }: LayoutShift): Extract<ScrollAction, { at: number }> {
  return { kind: `${axis}${count > 0 ? "Inserted" : "Deleted"}`, at, count: Math.abs(count) };
}

/** Returns the rows or columns of all ranges as spans without overlaps, the last first: changing one moves no other. */
export function spansOf(ranges: readonly Range[], axis: LayoutShift["axis"]): { at: number; count: number }[] {
  const spans = ranges
    .map((range) => (axis === "rows" ? { at: range.firstRow, count: range.rowCount } : { at: range.firstColumn, count: range.columnCount }))
    .sort((a, b) => a.at - b.at);
  const merged: typeof spans = [];
  for (const span of spans) {
    const last = merged[merged.length - 1];
    if (last && span.at <= last.at + last.count) last.count = Math.max(last.count, span.at + span.count - last.at);
    else merged.push(span);
  }
  return merged.reverse();
}
