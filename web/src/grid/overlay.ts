import type { Range } from "../data/types";
import { MAX_ROWS, MAX_COLUMNS, ROW_HEIGHT } from "./limits";
import { parseRange } from "./address";
import { make, moveTo, resize } from "./dom";
import { currentRange, isSingleCell, lastColumn, lastRow } from "./selection";
import { columnLeft, rowTop, type View } from "./view";

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Draws selected ranges, the active cell, the spilled area of its formula, and the fill handle. */
export class Overlay {
  readonly element = make("div", "overlay", { "aria-hidden": "true" });
  private readonly active = make("div", "active-cell");
  private readonly spill = make("div", "spill");
  private readonly preview = make("div", "fill-preview");
  private readonly handle = make("div", "fill-handle");
  private ranges: HTMLDivElement[] = [];
  /** The target of a fill in progress. */
  fillTarget: Range | null = null;

  constructor() {
    this.element.append(this.spill, this.active, this.preview, this.handle);
  }

  draw(view: View): void {
    const { selection, source } = view;
    this.element.style.inset = `${ROW_HEIGHT}px 0 0 ${view.headerWidth}px`;
    this.drawRanges(view);
    const { row, column } = selection.active;
    place(this.active, { firstRow: row, rowCount: 1, firstColumn: column, columnCount: 1 }, view);
    place(this.spill, spilledRange(view), view);
    place(this.preview, this.fillTarget, view);
    this.drawHandle(view, source.status.role !== "viewer" && selection.ranges.length === 1);
  }

  private drawRanges(view: View): void {
    const ranges = isSingleCell(view.selection) ? [] : view.selection.ranges;
    while (this.ranges.length < ranges.length) {
      const element = make("div", "range");
      this.element.prepend(element);
      this.ranges.push(element);
    }
    for (const element of this.ranges.splice(ranges.length)) element.remove();
    this.ranges.forEach((element, index) => place(element, ranges[index]!, view));
  }

  private drawHandle(view: View, isShown: boolean): void {
    const box = boxOf(currentRange(view.selection), view);
    const isVisible = isShown && box.y + box.height < view.context.height + 5 && box.x + box.width < view.context.width + 5;
    this.handle.hidden = !isVisible;
    if (isVisible) moveTo(this.handle, box.x + box.width - 6, box.y + box.height - 6);
  }
}

function place(element: HTMLElement, range: Range | null, view: View): void {
  const box = range && boxOf(range, view);
  element.hidden = !box || box.width <= 0 || box.height <= 0;
  if (!box || element.hidden) return;
  moveTo(element, box.x, box.y);
  resize(element, box.width, box.height);
}

/** Returns where a range is drawn, cut to slightly more than the body: browsers do not draw elements of any size. */
export function boxOf(range: Range, view: View): Box {
  const { width, height, columns } = view.context;
  const margin = 8;
  const left = Math.max(-margin, columnLeft(range.firstColumn, view) - 1);
  const right = Math.min(width + margin, columnLeft(lastColumn(range), view) + columns.sizeOf(lastColumn(range)));
  const top = Math.max(-margin, rowTop(range.firstRow, view) - 1);
  const bottom = Math.min(height + margin, rowTop(lastRow(range), view) + ROW_HEIGHT);
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** Returns the area that the active cell's formula fills, or the formula that fills the active cell. */
function spilledRange(view: View): Range | null {
  const { source, selection } = view;
  const cell = source.cellAt(selection.active.row, selection.active.column);
  if (cell?.fills !== undefined) return parseRange(cell.fills, MAX_ROWS, MAX_COLUMNS);
  if (cell?.filledBy === undefined) return null;
  const anchorRange = parseRange(cell.filledBy, MAX_ROWS, MAX_COLUMNS);
  if (!anchorRange) return null;
  const anchor = source.cellAt(anchorRange.firstRow, anchorRange.firstColumn);
  return anchor?.fills === undefined ? null : parseRange(anchor.fills, MAX_ROWS, MAX_COLUMNS);
}
