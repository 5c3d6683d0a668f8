import type { Range } from "../data/types";
import { lastColumn, lastRow } from "./selection";

/** Returns the range of a fill: the source, extended along the axis in which the pointer is farther away. */
export function fillTarget(source: Range, row: number, column: number): Range {
  const below = Math.max(0, row - lastRow(source));
  const above = Math.max(0, source.firstRow - row);
  const right = Math.max(0, column - lastColumn(source));
  const left = Math.max(0, source.firstColumn - column);
  if (Math.max(below, above) >= Math.max(right, left)) {
    return { ...source, firstRow: source.firstRow - above, rowCount: source.rowCount + above + below };
  }
  return { ...source, firstColumn: source.firstColumn - left, columnCount: source.columnCount + left + right };
}
