import { cellLook } from "./cell-view";
import { make, moveTo, setAttribute, setText } from "./dom";
import { textWidth } from "./measure";
import { contains, lastColumn, lastRow } from "./selection";
import { columnLeft, rowTop, type View } from "./view";

interface CellSlot {
  element: HTMLDivElement;
  column: number;
  x: number;
  width: number;
  className: string;
  title: string;
  isSelected: boolean;
}

interface RowSlot {
  element: HTMLDivElement;
  header: HTMLDivElement;
  cells: HTMLDivElement;
  slots: CellSlot[];
  row: number;
}

/**
 * Draws the visible cells in recycled elements. Row r always uses slot r modulo the number of slots, so that scrolling by
 * one row rewrites one row.
 */
export class Body {
  readonly element = make("div", "body", { role: "rowgroup" });
  private slots: RowSlot[] = [];
  private readonly frozenSlots: RowSlot[] = [];
  private digitWidth = 0;

  draw(view: View): void {
    this.digitWidth ||= textWidth("0000000000", this.element) / 10;
    const { visible } = view;
    this.resizePool(visible.rowCount);
    for (let row = visible.firstRow; row <= lastRow(visible); row++) {
      this.drawRow(this.slots[row % this.slots.length]!, row, view);
    }
    this.drawFrozenRows(view);
    // Slots outside the view are left over when the last rows are shown.
    for (const slot of this.slots) slot.element.hidden = slot.row < visible.firstRow || slot.row > lastRow(visible);
  }

  private drawFrozenRows(view: View): void {
    const { frozenRows } = view.context;
    while (this.frozenSlots.length < frozenRows) this.frozenSlots.push(this.addRow());
    for (const slot of this.frozenSlots.splice(frozenRows)) slot.element.remove();
    this.frozenSlots.forEach((slot, row) => {
      slot.element.className = row === frozenRows - 1 ? "row frozen last-frozen" : "row frozen";
      this.drawRow(slot, row, view);
    });
  }

  /** Puts the elements into the order of the rows, in which screen readers read them. Costs a layout: for idle times. */
  sort(): void {
    const rows = [...this.frozenSlots, ...this.slots];
    sortChildren(this.element, rows.map((slot) => ({ element: slot.element, index: slot.row })));
    for (const row of rows) {
      sortChildren(row.cells, row.slots.map((slot) => ({ element: slot.element, index: slot.column })));
    }
  }

  /** Rounds the number of slots up, so that a row more or less at the edge does not move every row to another slot. */
  private resizePool(rowCount: number): void {
    const count = Math.ceil((rowCount + 1) / 4) * 4;
    if (count === this.slots.length) return;
    while (this.slots.length < count) this.slots.push(this.addRow());
    for (const slot of this.slots.splice(count)) slot.element.remove();
    // Another number of slots maps rows to other slots: one that keeps its old row would be drawn over another.
    for (const slot of this.slots) slot.row = -1;
  }

  private addRow(): RowSlot {
    const header = make("div", "row-header", { role: "rowheader", "aria-colindex": "1" });
    const cells = make("div", "cells", { role: "presentation" });
    const element = make("div", "row", { role: "row" }, header, cells);
    this.element.append(element);
    return { element, header, cells, slots: [], row: -1 };
  }

  private drawRow(slot: RowSlot, row: number, view: View): void {
    moveTo(slot.element, 0, rowTop(row, view));
    moveTo(slot.cells, view.headerWidth - view.position.columnPixel, 0);
    slot.header.style.width = `${view.headerWidth}px`;
    if (slot.row !== row) {
      slot.row = row;
      setText(slot.header, String(row + 1));
      setAttribute(slot.element, "aria-rowindex", String(row + 2));
    }
    const isSelected = view.selection.ranges.some((range) => row >= range.firstRow && row <= lastRow(range));
    slot.header.classList.toggle("selected", isSelected);
    this.drawCells(slot, view);
  }

  private drawCells(slot: RowSlot, view: View): void {
    const { visible } = view;
    const count = Math.ceil((visible.columnCount + 1) / 4) * 4;
    if (slot.slots.length !== count) {
      while (slot.slots.length < count) slot.slots.push(addCell(slot.cells));
      for (const cell of slot.slots.splice(count)) cell.element.remove();
      for (const cell of slot.slots) cell.column = -1;
    }
    for (let column = visible.firstColumn; column <= lastColumn(visible); column++) {
      this.drawCell(slot.slots[column % count]!, slot.row, column, view);
    }
    for (const cell of slot.slots) {
      cell.element.hidden = cell.column < visible.firstColumn || cell.column > lastColumn(visible);
    }
  }

  private drawCell(slot: CellSlot, row: number, column: number, view: View): void {
    const { source, context, position, selection } = view;
    const width = context.columns.sizeOf(column);
    if (slot.column !== column) setAttribute(slot.element, "aria-colindex", String(column + 2));
    slot.column = column;
    const x = columnLeft(column, view) + position.columnPixel;
    if (slot.x !== x) moveTo(slot.element, (slot.x = x), 0);
    if (slot.width !== width) slot.element.style.width = `${(slot.width = width)}px`;
    const look = cellLook(source.cellAt(row, column), source.isLoaded(row, column), (text) => text.length * this.digitWidth <= width - 8);
    if (slot.className !== look.className) slot.element.className = slot.className = look.className;
    setText(slot.element, look.text);
    if (slot.title !== look.title) slot.element.title = slot.title = look.title;
    const isSelected = selection.ranges.some((range) => contains(range, row, column));
    if (slot.isSelected !== isSelected) slot.element.setAttribute("aria-selected", String((slot.isSelected = isSelected)));
  }
}

function addCell(parent: HTMLElement): CellSlot {
  const element = make("div", "cell", { role: "gridcell", "aria-selected": "false" });
  parent.append(element);
  return { element, column: -1, x: NaN, width: -1, className: "cell", title: "", isSelected: false };
}

export function sortChildren(parent: HTMLElement, children: readonly { element: HTMLElement; index: number }[]): void {
  const sorted = [...children].sort((a, b) => a.index - b.index);
  const isSorted = sorted.every((child, index) => parent.children[index] === child.element);
  if (!isSorted) parent.append(...sorted.map((child) => child.element));
}
