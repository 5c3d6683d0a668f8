/** Ranges of cells. */

import type { AxisMap } from "./axis-map";
import type { Range } from "./types";

export function boundsOf(cells: readonly { row: number; column: number }[]): Range {
  let [top, left, bottom, right] = [Infinity, Infinity, 0, 0];
  for (const { row, column } of cells) {
    [top, left] = [Math.min(top, row), Math.min(left, column)];
    [bottom, right] = [Math.max(bottom, row + 1), Math.max(right, column + 1)];
  }
  if (cells.length === 0) return { firstRow: 0, rowCount: 0, firstColumn: 0, columnCount: 0 };
  return { firstRow: top, rowCount: bottom - top, firstColumn: left, columnCount: right - left };
}

/** Returns what remains of a range, in the later coordinates. */
export function movedRange(range: Range, axis: "rows" | "columns", map: AxisMap): Range[] {
  if (axis === "rows") {
    const spans = map.keptSpans([{ first: range.firstRow, count: range.rowCount }]);
    return spans.map(({ first, count }) => ({ ...range, firstRow: first, rowCount: count }));
  }
  const spans = map.keptSpans([{ first: range.firstColumn, count: range.columnCount }]);
  return spans.map(({ first, count }) => ({ ...range, firstColumn: first, columnCount: count }));
}

/** Above this number, one rectangle around all cells is returned. */
const MAX_RECTANGLES = 64;

/** Returns the rectangles of cells that are sorted by row and column. */
export function rectanglesOf(cells: readonly { row: number; column: number }[]): Range[] {
  const rectangles: Range[] = [];
  for (const run of rowRunsOf(cells)) {
    const above = rectangles.find(
      ({ firstRow, rowCount, firstColumn, columnCount }) =>
        firstRow + rowCount === run.firstRow && firstColumn === run.firstColumn && columnCount === run.columnCount,
    );
    if (above === undefined) rectangles.push(run);
    else above.rowCount += 1;
    if (rectangles.length > MAX_RECTANGLES) return [boundsOf(cells)];
  }
  return rectangles;
}

function* rowRunsOf(cells: readonly { row: number; column: number }[]): Generator<Range> {
  let run: Range | null = null;
  for (const { row, column } of cells) {
    if (run !== null && run.firstRow === row && run.firstColumn + run.columnCount === column) {
      run.columnCount += 1;
      continue;
    }
    if (run !== null) yield run;
    run = { firstRow: row, rowCount: 1, firstColumn: column, columnCount: 1 };
  }
  if (run !== null) yield run;
}
