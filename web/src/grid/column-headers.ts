import { columnName } from "./address";
import { sortChildren } from "./body";
import { make, moveTo, setAttribute } from "./dom";
import { lastColumn } from "./selection";
import { columnLeft, type View } from "./view";

interface ColumnSlot {
  element: HTMLDivElement;
  label: HTMLSpanElement;
  column: number;
}

/** Draws the column headers in recycled elements, like `Body`. */
export class ColumnHeaders {
  readonly element: HTMLDivElement;
  readonly #corner = make("div", "corner", { role: "columnheader", "aria-colindex": "1", title: "Select all" });
  readonly #row = make("div", "header-row", { role: "row", "aria-rowindex": "1" });
  #slots: ColumnSlot[] = [];

  constructor() {
    this.#corner.append(make("span", "quiet", {}, "Row number"));
    this.#row.append(this.#corner);
    this.element = make("div", "header", { role: "rowgroup" }, this.#row);
  }

  draw(view: View): void {
    const { visible } = view;
    this.#corner.style.width = `${view.headerWidth}px`;
    const count = Math.ceil((visible.columnCount + 1) / 4) * 4;
    if (count !== this.#slots.length) this.#resizePool(count);
    for (let column = visible.firstColumn; column <= lastColumn(visible); column++) {
      drawColumn(this.#slots[column % count]!, column, view);
    }
    for (const slot of this.#slots) {
      slot.element.hidden = slot.column < visible.firstColumn || slot.column > lastColumn(visible);
    }
  }

  sort(): void {
    const columns = this.#slots.map((slot) => ({ element: slot.element, index: slot.column }));
    sortChildren(this.#row, [{ element: this.#corner, index: -1 }, ...columns]);
  }

  #resizePool(count: number): void {
    while (this.#slots.length < count) this.#slots.push(this.#addColumn());
    for (const slot of this.#slots.splice(count)) slot.element.remove();
    // Another number of slots maps columns to other slots.
    for (const slot of this.#slots) slot.column = -1;
  }

  #addColumn(): ColumnSlot {
    const label = make("span", "");
    const element = make("div", "column", { role: "columnheader" }, label, make("div", "resize", { "aria-hidden": "true" }));
    this.#row.append(element);
    return { element, label, column: -1 };
  }
}

function drawColumn(slot: ColumnSlot, column: number, view: View): void {
  moveTo(slot.element, view.headerWidth + columnLeft(column, view), 0);
  slot.element.style.width = `${view.context.columns.sizeOf(column)}px`;
  const isSelected = view.selection.ranges.some((range) => column >= range.firstColumn && column <= lastColumn(range));
  slot.element.classList.toggle("selected", isSelected);
  if (slot.column === column) return;
  slot.column = column;
  slot.label.textContent = columnName(column);
  setAttribute(slot.element, "aria-colindex", String(column + 2));
}
