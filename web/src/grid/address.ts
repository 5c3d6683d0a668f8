import { cellName, columnName, MAX_COLUMNS, MAX_ROWS } from "../base/sheet";
import type { Range } from "../data/types";

export { cellName, columnName };

export interface CellAddress {
  row: number;
  column: number;
}

/** Returns a range as text: `B2`, `B2:C9`, `2:9` for whole rows, `B:C` for whole columns. */
export function rangeName(range: Range, rows: number, columns: number): string {
  const lastRow = range.firstRow + range.rowCount - 1;
  const lastColumn = range.firstColumn + range.columnCount - 1;
  if (range.columnCount >= columns) return `${range.firstRow + 1}:${lastRow + 1}`;
  if (range.rowCount >= rows) return `${columnName(range.firstColumn)}:${columnName(lastColumn)}`;
  const first = cellName(range.firstRow, range.firstColumn);
  if (range.rowCount === 1 && range.columnCount === 1) return first;
  return `${first}:${cellName(lastRow, lastColumn)}`;
}

const CORNER = /^\$?([A-Z]{1,5})?\$?(\d{1,10})?$/;

interface Corner {
  row: number | null;
  column: number | null;
}

/** Parses `B2`, `B2:C9`, `2:9`, `B:C`, or a row number. Thousands separators are ignored. Returns null if it is none. */
export function parseRange(text: string, rows: number, columns: number): Range | null {
  const parts = text.replace(/[\s,'_]/g, "").toUpperCase().split(":");
  if (parts.length > 2) return null;
  const first = parseCorner(parts[0] ?? "");
  const last = parts.length === 2 ? parseCorner(parts[1] ?? "") : first;
  if (!first || !last) return null;
  if (parts.length === 1 && first.column === null && first.row !== null) {
    return { firstRow: first.row, rowCount: 1, firstColumn: 0, columnCount: 1 };
  }
  const rowSpan = span(first.row, last.row, rows);
  const columnSpan = span(first.column, last.column, columns);
  if (!rowSpan || !columnSpan) return null;
  return { firstRow: rowSpan[0], rowCount: rowSpan[1], firstColumn: columnSpan[0], columnCount: columnSpan[1] };
}

function parseCorner(text: string): Corner | null {
  const match = CORNER.exec(text);
  if (!match || text === "") return null;
  const row = match[2] === undefined ? null : Number(match[2]) - 1;
  const column = match[1] === undefined ? null : columnIndex(match[1]);
  if (row !== null && (row < 0 || row >= MAX_ROWS)) return null;
  if (column !== null && column >= MAX_COLUMNS) return null;
  return { row, column };
}

/** Returns the index of a column name in capitals. */
export function columnIndex(name: string): number {
  let index = 0;
  for (const letter of name) index = index * 26 + letter.charCodeAt(0) - 64;
  return index - 1;
}

function span(first: number | null, last: number | null, whole: number): [number, number] | null {
  if (first === null && last === null) return [0, whole];
  if (first === null || last === null) return null;
  return [Math.min(first, last), Math.abs(last - first) + 1];
}
