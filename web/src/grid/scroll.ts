import type { Axis } from "./axis";
import { offsetOfTrack, type Track } from "./track";

/** What the top left corner of the body shows. Not pixels of the sheet: the row under the eye must not depend on rows above. */
export interface ScrollPosition {
  row: number;
  rowPixel: number;
  column: number;
  columnPixel: number;
}

export interface ScrollContext {
  rows: Axis;
  columns: Axis;
  /** Size of the part that scrolls: the body without headers and frozen rows. */
  width: number;
  height: number;
  /** Rows at the start that do not scroll. Positions start after them. */
  frozenRows: number;
}

export type ScrollAction =
  | { kind: "by"; x: number; y: number }
  | { kind: "dragRows"; to: number; track: Track }
  | { kind: "dragColumns"; to: number; track: Track }
  | { kind: "reveal"; row: number; column: number }
  | { kind: "rowsInserted" | "rowsDeleted" | "columnsInserted" | "columnsDeleted"; at: number; count: number }
  | { kind: "resized" };

export const SCROLL_START: ScrollPosition = { row: 0, rowPixel: 0, column: 0, columnPixel: 0 };

/** Returns the position after an action. Always inside the sheet. */
export function scroll(position: ScrollPosition, action: ScrollAction, context: ScrollContext): ScrollPosition {
  const y = rowOffset(position, context);
  const x = columnOffset(position, context);
  switch (action.kind) {
    case "by":
      return positionAt(x + action.x, y + action.y, context);
    case "dragRows":
      return positionAt(x, frozenHeight(context) + offsetOfTrack(action.to, action.track), context);
    case "dragColumns":
      return positionAt(offsetOfTrack(action.to, action.track), y, context);
    case "reveal":
      return positionAt(
        revealed(context.columns, action.column, x, context.width),
        action.row < context.frozenRows ? y : revealed(context.rows, action.row, y, context.height),
        context,
      );
    case "resized":
      return positionAt(x, y, context);
    default:
      return clamped(shifted(position, action), context);
  }
}

export function rowOffset(position: ScrollPosition, context: ScrollContext): number {
  return context.rows.offsetOf(position.row) + position.rowPixel;
}

export function columnOffset(position: ScrollPosition, context: ScrollContext): number {
  return context.columns.offsetOf(position.column) + position.columnPixel;
}

export function frozenHeight(context: ScrollContext): number {
  return context.rows.offsetOf(context.frozenRows);
}

/** Returns how far the rows scroll, in pixels. */
export function rowTravel(context: ScrollContext): number {
  return Math.max(0, maxOffset(context.rows, context.height) - frozenHeight(context));
}

/** Returns the largest offset: the last index ends at the end of the viewport. */
export function maxOffset(axis: Axis, viewport: number): number {
  return Math.max(0, axis.length - viewport);
}

function positionAt(x: number, y: number, context: ScrollContext): ScrollPosition {
  const start = frozenHeight(context);
  const top = clamp(y, start, Math.max(start, maxOffset(context.rows, context.height)));
  const left = clamp(x, 0, maxOffset(context.columns, context.width));
  const row = context.rows.indexAt(top);
  const column = context.columns.indexAt(left);
  return {
    row,
    rowPixel: top - context.rows.offsetOf(row),
    column,
    columnPixel: left - context.columns.offsetOf(column),
  };
}

function clamped(position: ScrollPosition, context: ScrollContext): ScrollPosition {
  return positionAt(columnOffset(position, context), rowOffset(position, context), context);
}

function clamp(offset: number, min: number, max: number): number {
  return Math.max(min, Math.min(offset, max));
}

/** Returns the nearest offset at which an index is fully visible, or its start if it is larger than the viewport. */
function revealed(axis: Axis, index: number, offset: number, viewport: number): number {
  const start = axis.offsetOf(index);
  const size = axis.sizeOf(index);
  if (start < offset || size > viewport) return start;
  return Math.max(offset, start + size - viewport);
}

type Shift = Extract<ScrollAction, { at: number }>;

function shifted(position: ScrollPosition, action: Shift): ScrollPosition {
  const isRows = action.kind === "rowsInserted" || action.kind === "rowsDeleted";
  const index = isRows ? position.row : position.column;
  const next = shiftIndex(index, action);
  if (isRows) return { ...position, row: next };
  return { ...position, column: next };
}

/** Returns where an index is after an insertion or deletion; an index that was deleted becomes the first one after. */
function shiftIndex(index: number, action: Shift): number {
  if (index < action.at) return index;
  const isInsertion = action.kind === "rowsInserted" || action.kind === "columnsInserted";
  if (isInsertion) return index + action.count;
  return Math.max(action.at, index - action.count);
}
