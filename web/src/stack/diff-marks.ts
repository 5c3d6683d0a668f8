/** Turns differences into marks of the grid, and into numbers. */

import type { Mark } from "../data/types";
import { count } from "./csv/errors";
import type { AxisDiff, DiffPage, SheetDiff, Span } from "./types";

/** More marks would slow the grid down. */
export const MAX_MARKS = 5_000;

/** Marks in the coordinates of the later state. */
export function marksOfLaterState(diff: DiffPage): Mark[] {
  const marks = diff.sheets.flatMap(({ sheet, cells }) => joined(sheet, cells));
  return marks.slice(0, MAX_MARKS);
}

/** Marks in the coordinates of the earlier state. Cells of inserted rows and columns are not in it. */
export function marksOfEarlierState(diff: DiffPage): Mark[] {
  const marks = diff.sheets.flatMap((sheetDiff) => {
    const { sheet, change, deletedCells } = sheetDiff;
    return joined(sheet, (change === "added" ? [] : earlierCells(sheetDiff)).concat(deletedCells));
  });
  return marks.slice(0, MAX_MARKS);
}

interface CellPlace {
  row: number;
  column: number;
}

function earlierCells({ cells, rows, columns }: SheetDiff): CellPlace[] {
  return cells.flatMap((cell) => {
    const row = earlierIndex(cell.row, rows);
    const column = earlierIndex(cell.column, columns);
    return row === null || column === null ? [] : [{ row, column }];
  });
}

/** Returns the index of a row or column in the earlier state, or null if it was inserted since. */
export function earlierIndex(later: number, { inserted, deleted }: AxisDiff): number | null {
  if (inserted.some((span) => contains(span, later))) return null;
  let index = later - lengthBefore(inserted, later);
  for (const span of [...deleted].sort((one, other) => one.first - other.first)) {
    if (span.first <= index) index += span.count;
  }
  return index;
}

function contains({ first, count: length }: Span, index: number): boolean {
  return index >= first && index < first + length;
}

function lengthBefore(spans: readonly Span[], index: number): number {
  return spans.reduce((sum, { first, count: length }) => sum + Math.min(Math.max(index - first, 0), length), 0);
}

/** Joins neighbors in a row, and rows of the same columns, into one mark. */
function joined(sheet: number, cells: readonly CellPlace[]): Mark[] {
  const sorted = [...cells].sort((one, other) => one.row - other.row || one.column - other.column);
  const runs: Mark[] = [];
  for (const { row, column } of sorted) {
    const last = runs.at(-1);
    const isNext = last?.firstRow === row && last.firstColumn + last.columnCount === column;
    if (isNext) last.columnCount += 1;
    else runs.push({ kind: "changed", sheet, firstRow: row, rowCount: 1, firstColumn: column, columnCount: 1 });
  }
  const open = new Map<string, Mark>();
  const marks: Mark[] = [];
  for (const run of runs) {
    const key = `${run.firstColumn}:${run.columnCount}`;
    const above = open.get(key);
    if (above !== undefined && above.firstRow + above.rowCount === run.firstRow) above.rowCount += 1;
    else {
      open.set(key, run);
      marks.push(run);
    }
  }
  return marks;
}

/** Says in numbers what differs, such as `3 cells, 1 row deleted`. The later state is the one after. */
export function describeDiff(diff: DiffPage & { isTruncated?: boolean }): string {
  const total = (of: (sheet: SheetDiff) => number) => diff.sheets.reduce((sum, sheet) => sum + of(sheet), 0);
  const length = (spans: readonly Span[]) => spans.reduce((sum, span) => sum + span.count, 0);
  const sheets = (change: SheetDiff["change"]) => total((sheet) => (sheet.change === change ? 1 : 0));
  const parts: [number, string, string][] = [
    [total((sheet) => sheet.cells.length), "cell", "cells"],
    [total((sheet) => sheet.deletedCells.length), "deleted cell", "deleted cells"],
    [total((sheet) => length(sheet.rows.inserted)), "inserted row", "inserted rows"],
    [total((sheet) => length(sheet.rows.deleted)), "deleted row", "deleted rows"],
    [total((sheet) => length(sheet.columns.inserted)), "inserted column", "inserted columns"],
    [total((sheet) => length(sheet.columns.deleted)), "deleted column", "deleted columns"],
    [sheets("added"), "added sheet", "added sheets"],
    [sheets("deleted"), "deleted sheet", "deleted sheets"],
    [sheets("renamed"), "renamed sheet", "renamed sheets"],
    [total((sheet) => (sheet.formatsChanged ? 1 : 0)), "sheet with other formats", "sheets with other formats"],
    [diff.names.length, "name", "names"],
  ];
  const present = parts.filter(([number]) => number > 0).map(([number, one, many]) => count(number, one, many));
  if (diff.order !== undefined) present.push("the order of sheets");
  if (present.length === 0) return "nothing";
  return diff.isTruncated === true ? `at least ${present.join(", ")}` : present.join(", ");
}
