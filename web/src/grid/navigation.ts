import type { CellAddress } from "./address";
import { MAX_EDGE_STEPS } from "./limits";
import { clampIndex, pickCell, type GridSize, type Selection } from "./selection";

export type Direction = "up" | "down" | "left" | "right";
export type Move =
  | { kind: "cell" | "edge" | "page"; direction: Direction }
  | { kind: "rowStart" | "rowEnd" | "sheetStart" | "sheetEnd" };

export interface NavigationContext {
  size: GridSize;
  /** Rows and columns up to the last cell that has a value. */
  extent: GridSize;
  /** Rows and columns of one page. */
  page: GridSize;
  /** Returns null where the cell is not loaded. */
  hasValue(row: number, column: number): boolean | null;
}

const STEPS: Record<Direction, CellAddress> = {
  up: { row: -1, column: 0 },
  down: { row: 1, column: 0 },
  left: { row: 0, column: -1 },
  right: { row: 0, column: 1 },
};

/** Returns the selection after a move. `isExtending` moves the head of the current range instead of the active cell. */
export function navigate(selection: Selection, move: Move, isExtending: boolean, context: NavigationContext): Selection {
  const target = moved(isExtending ? selection.head : selection.active, move, context);
  return pickCell(selection, target, isExtending ? "extend" : "replace");
}

function moved(from: CellAddress, move: Move, context: NavigationContext): CellAddress {
  const { size, extent, page } = context;
  switch (move.kind) {
    case "cell":
      return stepped(from, move.direction, 1, size);
    case "page":
      return stepped(from, move.direction, isVertical(move.direction) ? page.rows : page.columns, size);
    case "edge":
      return edge(from, move.direction, context);
    case "rowStart":
      return { row: from.row, column: 0 };
    case "rowEnd":
      return { row: from.row, column: Math.max(0, extent.columns - 1) };
    case "sheetStart":
      return { row: 0, column: 0 };
    case "sheetEnd":
      return { row: Math.max(0, extent.rows - 1), column: Math.max(0, extent.columns - 1) };
  }
}

function stepped(from: CellAddress, direction: Direction, count: number, size: GridSize): CellAddress {
  const step = STEPS[direction];
  return {
    row: clampIndex(from.row + step.row * count, size.rows),
    column: clampIndex(from.column + step.column * count, size.columns),
  };
}

/**
 * Returns the end of the block of filled cells, or the start of the next block.
 *
 * The end of a block that is not loaded is unknown. The move then goes to the last used row or column, as if the block
 * were as long as the sheet, instead of waiting for a scan of up to a billion rows.
 */
function edge(from: CellAddress, direction: Direction, context: NavigationContext): CellAddress {
  const next = stepped(from, direction, 1, context.size);
  const isInBlock = context.hasValue(from.row, from.column) === true && context.hasValue(next.row, next.column) === true;
  let current = isInBlock ? from : next;
  for (let steps = 0; steps < MAX_EDGE_STEPS; steps++) {
    const ahead = stepped(current, direction, 1, context.size);
    const isFilled = context.hasValue(isInBlock ? ahead.row : current.row, isInBlock ? ahead.column : current.column);
    if (isFilled === null) return farEnd(from, direction, context);
    if (isFilled !== isInBlock || isSame(ahead, current)) return current;
    current = ahead;
  }
  return farEnd(from, direction, context);
}

function farEnd(from: CellAddress, direction: Direction, context: NavigationContext): CellAddress {
  if (direction === "up") return { row: 0, column: from.column };
  if (direction === "left") return { row: from.row, column: 0 };
  const { size, extent } = context;
  if (direction === "down") return { row: lastOf(from.row, extent.rows, size.rows), column: from.column };
  return { row: from.row, column: lastOf(from.column, extent.columns, size.columns) };
}

function lastOf(from: number, used: number, shown: number): number {
  return from < used - 1 ? used - 1 : shown - 1;
}

function isVertical(direction: Direction): boolean {
  return direction === "up" || direction === "down";
}

function isSame(a: CellAddress, b: CellAddress): boolean {
  return a.row === b.row && a.column === b.column;
}
