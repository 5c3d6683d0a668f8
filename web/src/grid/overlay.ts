import type { Range } from "../data/types";
import { MAX_ROWS, MAX_COLUMNS, ROW_HEIGHT } from "./limits";
import { parseRange } from "./address";
import { make, moveTo, resize } from "./dom";
import { currentRange, isSingleCell, lastColumn, lastRow } from "./selection";
import { MarkPane } from "./mark-pane";
import type { Marks } from "./marks";
import { frozenHeight } from "./scroll";
import { columnLeft, rowTop, type View } from "./view";

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
  /** The start of the range is under the frozen rows. */
  isCut: boolean;
}

/** Draws selected ranges, the active cell, the spilled area of its formula, and the fill handle. */
export class Overlay {
  readonly element = make("div", "overlay", { "aria-hidden": "true" });
  readonly #marks = new MarkPane();
  readonly #active = make("div", "active-cell");
  readonly #spill = make("div", "spill");
  readonly #preview = make("div", "fill-preview");
  readonly #handle = make("div", "fill-handle");
  #ranges: HTMLDivElement[] = [];
  /** The target of a fill in progress. */
  fillTarget: Range | null = null;

  constructor() {
    this.element.append(this.#marks.element, this.#spill, this.#active, this.#preview, this.#handle);
  }

  draw(view: View, marks: Marks, canEdit: boolean): void {
    const { selection } = view;
    this.#marks.draw(view, marks);
    this.element.style.inset = `${ROW_HEIGHT}px 0 0 ${view.headerWidth}px`;
    this.#drawRanges(view);
    const { row, column } = selection.active;
    placeRange(this.#active, { firstRow: row, rowCount: 1, firstColumn: column, columnCount: 1 }, view);
    placeRange(this.#spill, spilledRange(view), view);
    placeRange(this.#preview, this.fillTarget, view);
    this.#drawHandle(view, canEdit && selection.ranges.length === 1);
  }

  #drawRanges(view: View): void {
    const ranges = isSingleCell(view.selection) ? [] : view.selection.ranges;
    while (this.#ranges.length < ranges.length) {
      const element = make("div", "range");
      this.#marks.element.after(element);
      this.#ranges.push(element);
    }
    for (const element of this.#ranges.splice(ranges.length)) element.remove();
    this.#ranges.forEach((element, index) => placeRange(element, ranges[index]!, view));
  }

  #drawHandle(view: View, isShown: boolean): void {
    const box = boxOf(currentRange(view.selection), view);
    const isVisible = isShown && box.height > 0 && box.y + box.height < bodyHeight(view) + 5 && box.x + box.width < view.context.width + 5;
    this.#handle.hidden = !isVisible;
    if (isVisible) moveTo(this.#handle, box.x + box.width - 6, box.y + box.height - 6);
  }
}

function bodyHeight({ context }: View): number {
  return frozenHeight(context) + context.height;
}

function placeRange(element: HTMLElement, range: Range | null, view: View): void {
  place(element, range && boxOf(range, view));
}

export function place(element: HTMLElement, box: Box | null): void {
  element.hidden = !box || box.width <= 0 || box.height <= 0;
  if (!box || element.hidden) return;
  element.classList.toggle("cut", box.isCut);
  moveTo(element, box.x, box.y);
  resize(element, box.width, box.height);
}

/** Returns where a range is drawn, cut to slightly more than the body: browsers do not draw elements of any size. */
export function boxOf(range: Range, view: View): Box {
  const { width, columns, frozenRows } = view.context;
  const margin = 8;
  // A range that scrolls ends at the frozen rows.
  const isFrozen = range.firstRow < frozenRows;
  const edge = frozenHeight(view.context);
  const left = Math.max(-margin, columnLeft(range.firstColumn, view) - 1);
  const right = Math.min(width + margin, columnLeft(lastColumn(range), view) + columns.sizeOf(lastColumn(range)));
  const start = rowTop(range.firstRow, view) - 1;
  const isCut = edge > 0 && !isFrozen && start < edge - 1;
  const top = isCut ? edge : Math.max(-margin, start);
  const end = Math.min(bodyHeight(view) + margin, rowTop(lastRow(range), view) + ROW_HEIGHT);
  const bottom = isFrozen ? Math.max(end, Math.min(edge, rowTop(Math.min(lastRow(range), frozenRows - 1), view) + ROW_HEIGHT)) : end;
  return { x: left, y: top, width: right - left, height: bottom - top, isCut };
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
