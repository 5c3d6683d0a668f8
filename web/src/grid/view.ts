import type { Range, SheetSource } from "../data/types";
import { BLANK_COLUMNS, BLANK_ROWS, MAX_COLUMNS, MAX_DRAWN_COLUMNS, MAX_DRAWN_ROWS, MAX_ROWS, MIN_SHOWN_COLUMNS, MIN_SHOWN_ROWS, ROW_HEIGHT } from "./limits";
import { frozenHeight, type ScrollContext, type ScrollPosition } from "./scroll";
import type { GridSize, Selection } from "./selection";

/** What is drawn in one frame. Every pane draws the same view. */
export interface View {
  source: SheetSource;
  context: ScrollContext;
  position: ScrollPosition;
  selection: Selection;
  /** Rows and columns that are at least partly visible. */
  visible: Range;
  headerWidth: number;
  /** Changes whenever cells do. */
  dataVersion: number;
}

/** Returns the size of the grid: the sheet, and blank rows and columns after its last cell and after the active cell. */
export function shownSize(extent: GridSize, active: { row: number; column: number }): GridSize {
  const rows = Math.max(MIN_SHOWN_ROWS, extent.rows + BLANK_ROWS, active.row + BLANK_ROWS);
  const columns = Math.max(MIN_SHOWN_COLUMNS, extent.columns + BLANK_COLUMNS, active.column + BLANK_COLUMNS);
  return { rows: Math.min(MAX_ROWS, rows), columns: Math.min(MAX_COLUMNS, columns) };
}

export function visibleRange(position: ScrollPosition, context: ScrollContext): Range {
  const { rows, columns, width, height } = context;
  const left = columns.offsetOf(position.column) + position.columnPixel;
  const lastColumn = columns.indexAt(left + width);
  const rowCount = Math.ceil((height + position.rowPixel) / ROW_HEIGHT);
  return {
    firstRow: position.row,
    rowCount: Math.max(0, Math.min(rowCount, rows.count - position.row, MAX_DRAWN_ROWS)),
    firstColumn: position.column,
    columnCount: Math.max(0, Math.min(lastColumn - position.column + 1, MAX_DRAWN_COLUMNS)),
  };
}

/** Returns the width that the row numbers of the visible rows need. */
export function rowHeaderWidth(lastVisibleRow: number): number {
  return Math.max(44, String(lastVisibleRow + 1).length * 8 + 16);
}

/** Returns the ranges that are at least partly visible: frozen rows, and the part that scrolls. */
export function shownRanges({ visible, context }: View): Range[] {
  return context.frozenRows > 0 ? [{ ...visible, firstRow: 0, rowCount: context.frozenRows }, visible] : [visible];
}

/** Returns the distance of a row's top from the top of the body. */
export function rowTop(row: number, view: View): number {
  if (row < view.context.frozenRows) return row * ROW_HEIGHT;
  return frozenHeight(view.context) + (row - view.position.row) * ROW_HEIGHT - view.position.rowPixel;
}

/** Returns the distance of a column's start from the start of the body. */
export function columnLeft(column: number, view: View): number {
  const { columns } = view.context;
  return columns.offsetOf(column) - columns.offsetOf(view.position.column) - view.position.columnPixel;
}
