import type { Axis } from "./axis";
import { cellLook } from "./cell-view";
import { make, moveTo, setAttribute, setText } from "./dom";
import { ROW_HEIGHT } from "./limits";
import { textWidth } from "./measure";
import { contains, lastColumn, lastRow, type Selection } from "./selection";
import { columnLeft, rowTop, type View } from "./view";

interface CellSlot {
  element: HTMLDivElement;
  column: number;
  x: number;
  width: number;
  className: string;
  text: string;
  title: string;
  isSelected: boolean;
}

interface RowSlot {
  element: HTMLDivElement;
  header: HTMLDivElement;
  cells: HTMLDivElement;
  slots: CellSlot[];
  row: number;
  top: number;
  left: number;
  headerWidth: number;
  version: number;
}

interface ColumnPlace {
  column: number;
  x: number;
  width: number;
}

/** Screen readers read at least this part of a text, also in a narrow column. */
const MIN_DRAWN_LENGTH = 200;
/** Rows are placed from an anchor row, which changes before their offsets lose precision. */
const MAX_FROM_ANCHOR = 20_000;

/**
 * Draws the visible cells in recycled elements. Row r always uses slot r modulo the number of slots, so that scrolling by
 * one row rewrites one row.
 */
export class Body {
  readonly #rows = make("div", "rows", { role: "presentation" });
  readonly element = make("div", "body", { role: "rowgroup" }, this.#rows);
  #anchor = 0;
  #columns: readonly ColumnPlace[] = [];
  #key = "";
  #selection: Selection | null = null;
  #axis: Axis | null = null;
  #version = 0;
  #slots: RowSlot[] = [];
  readonly #frozenSlots: RowSlot[] = [];
  #digitWidth = 0;

  draw(view: View): void {
    this.#digitWidth ||= textWidth("0000000000", this.element) / 10;
    const { visible, position } = view;
    this.#noteChanges(view);
    this.#resizePool(visible.rowCount);
    if (Math.abs(position.row - this.#anchor) > MAX_FROM_ANCHOR) this.#anchor = position.row;
    // One transform moves all rows: a transform of each row or cell would be a layer to sort for the browser.
    moveTo(this.#rows, 0, rowTop(position.row, view) - (position.row - this.#anchor) * ROW_HEIGHT);
    for (let row = visible.firstRow; row <= lastRow(visible); row++) {
      this.#drawRow(this.#slots[row % this.#slots.length]!, row, view, (row - this.#anchor) * ROW_HEIGHT);
    }
    this.#drawFrozenRows(view);
    // Slots outside the view are left over when the last rows are shown.
    for (const slot of this.#slots) slot.element.hidden = slot.row < visible.firstRow || slot.row > lastRow(visible);
  }

  /** Rows are written again only if something other than the row at the top has changed. */
  #noteChanges(view: View): void {
    const { visible, context, position, headerWidth, dataVersion } = view;
    const key = [dataVersion, headerWidth, position.columnPixel, visible.firstColumn, visible.columnCount].join();
    if (key === this.#key && view.selection === this.#selection && context.columns === this.#axis) return;
    this.#key = key;
    this.#selection = view.selection;
    this.#axis = context.columns;
    this.#columns = columnPlaces(view);
    this.#version++;
  }

  #drawFrozenRows(view: View): void {
    const { frozenRows } = view.context;
    while (this.#frozenSlots.length < frozenRows) this.#frozenSlots.push(this.#addRow((element) => this.#rows.before(element)));
    for (const slot of this.#frozenSlots.splice(frozenRows)) slot.element.remove();
    this.#frozenSlots.forEach((slot, row) => {
      slot.element.className = row === frozenRows - 1 ? "row frozen last-frozen" : "row frozen";
      this.#drawRow(slot, row, view, row * ROW_HEIGHT);
    });
  }

  /** Puts the elements into the order of the rows, in which screen readers read them. Costs a layout: for idle times. */
  sort(): void {
    sortChildren(this.#rows, this.#slots.map((slot) => ({ element: slot.element, index: slot.row })));
    for (const row of [...this.#frozenSlots, ...this.#slots]) {
      sortChildren(row.cells, row.slots.map((slot) => ({ element: slot.element, index: slot.column })));
    }
  }

  /** Rounds the number of slots up, so that a row more or less at the edge does not move every row to another slot. */
  #resizePool(rowCount: number): void {
    const count = Math.ceil((rowCount + 1) / 4) * 4;
    if (count === this.#slots.length) return;
    while (this.#slots.length < count) this.#slots.push(this.#addRow((element) => this.#rows.append(element)));
    for (const slot of this.#slots.splice(count)) slot.element.remove();
    // Another number of slots maps rows to other slots: one that keeps its old row would be drawn over another.
    for (const slot of this.#slots) slot.row = -1;
  }

  #addRow(place: (element: HTMLElement) => void): RowSlot {
    const header = make("div", "row-header", { role: "rowheader", "aria-colindex": "1" });
    const cells = make("div", "cells", { role: "presentation" });
    const element = make("div", "row", { role: "row" }, header, cells);
    place(element);
    return { element, header, cells, slots: [], row: -1, top: NaN, left: NaN, headerWidth: -1, version: -1 };
  }

  #drawRow(slot: RowSlot, row: number, view: View, top: number): void {
    if (slot.top !== top) slot.element.style.top = `${(slot.top = top)}px`;
    if (slot.row === row && slot.version === this.#version) return;
    slot.version = this.#version;
    const left = view.headerWidth - view.position.columnPixel;
    if (slot.left !== left) slot.cells.style.left = `${(slot.left = left)}px`;
    if (slot.headerWidth !== view.headerWidth) slot.header.style.width = `${(slot.headerWidth = view.headerWidth)}px`;
    if (slot.row !== row) {
      slot.row = row;
      setText(slot.header, String(row + 1));
      setAttribute(slot.element, "aria-rowindex", String(row + 2));
    }
    const isSelected = view.selection.ranges.some((range) => row >= range.firstRow && row <= lastRow(range));
    slot.header.classList.toggle("selected", isSelected);
    this.#drawCells(slot, view);
  }

  #drawCells(slot: RowSlot, view: View): void {
    const { visible } = view;
    const count = Math.ceil((visible.columnCount + 1) / 4) * 4;
    if (slot.slots.length !== count) {
      while (slot.slots.length < count) slot.slots.push(addCell(slot.cells));
      for (const cell of slot.slots.splice(count)) cell.element.remove();
      for (const cell of slot.slots) cell.column = -1;
    }
    for (const place of this.#columns) this.#drawCell(slot.slots[place.column % count]!, slot.row, place, view);
    for (const cell of slot.slots) {
      cell.element.hidden = cell.column < visible.firstColumn || cell.column > lastColumn(visible);
    }
  }

  #drawCell(slot: CellSlot, row: number, { column, x, width }: ColumnPlace, view: View): void {
    const { source, selection } = view;
    if (slot.column !== column) setAttribute(slot.element, "aria-colindex", String(column + 2));
    slot.column = column;
    if (slot.x !== x) slot.element.style.left = `${(slot.x = x)}px`;
    if (slot.width !== width) slot.element.style.width = `${(slot.width = width)}px`;
    const cell = source.cellAt(row, column);
    const look = cellLook(cell, cell !== undefined || source.isLoaded(row, column), (text) => text.length * this.#digitWidth <= width - 8, Math.max(MIN_DRAWN_LENGTH, width));
    if (slot.className !== look.className) slot.element.className = slot.className = look.className;
    // Kept here, since reading it from the element makes a copy.
    if (slot.text !== look.text) slot.element.textContent = slot.text = look.text;
    if (slot.title !== look.title) slot.element.title = slot.title = look.title;
    const isSelected = selection.ranges.some((range) => contains(range, row, column));
    if (slot.isSelected !== isSelected) slot.element.setAttribute("aria-selected", String((slot.isSelected = isSelected)));
  }
}

function columnPlaces(view: View): ColumnPlace[] {
  const { visible, context, position } = view;
  return Array.from({ length: visible.columnCount }, (_, index) => {
    const column = visible.firstColumn + index;
    return { column, x: columnLeft(column, view) + position.columnPixel, width: context.columns.sizeOf(column) };
  });
}

function addCell(parent: HTMLElement): CellSlot {
  const element = make("div", "cell", { role: "gridcell", "aria-selected": "false" });
  parent.append(element);
  return { element, column: -1, x: NaN, width: -1, className: "cell", text: "", title: "", isSelected: false };
}

export function sortChildren(parent: HTMLElement, children: readonly { element: HTMLElement; index: number }[]): void {
  const sorted = [...children].sort((a, b) => a.index - b.index);
  const isSorted = sorted.every((child, index) => parent.children[index] === child.element);
  if (!isSorted) parent.append(...sorted.map((child) => child.element));
}
