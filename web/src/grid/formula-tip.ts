import type { SheetSource } from "../data/types";
import type { CellAddress } from "./address";
import { make, moveTo, setText } from "./dom";
import { explainAt } from "./formula-reasons";
import { ROW_HEIGHT } from "./limits";
import { columnLeft, rowTop, type View } from "./view";

/**
 * Explains the active cell below it. The field over the cell refers to the text, so that a screen reader reads it.
 * Escape hides it.
 */
export class FormulaTip {
  readonly element = make("div", "formula-tip", { id: "formula-tip", role: "tooltip" });
  #hidden = "";
  #key = "";

  constructor(
    private readonly field: HTMLElement,
    private readonly viewport: HTMLElement,
  ) {
    this.element.hidden = true;
  }

  draw(source: SheetSource, view: View, isReady: boolean): void {
    const { active } = view.selection;
    const text = isReady ? explainAt(source, active).join("\n") : "";
    this.#key = JSON.stringify([source.sheet, active, text]);
    if (this.#hidden !== this.#key) this.#hidden = "";
    const isShown = text !== "" && this.#hidden === "" && isVisible(active, view);
    setText(this.element, text);
    this.element.hidden = !isShown;
    describe(this.field, text !== "");
    if (isShown) this.#place(active, view);
  }

  /** Hides the explanation until another cell is active. */
  hide(): void {
    if (this.element.hidden) return;
    this.#hidden = this.#key;
    this.element.hidden = true;
  }

  #place(cell: CellAddress, view: View): void {
    const { offsetLeft: left, offsetTop: top } = this.viewport.parentElement?.parentElement ?? this.viewport;
    const { offsetWidth, offsetHeight } = this.element;
    const height = view.context.height + ROW_HEIGHT;
    const x = Math.max(0, Math.min(view.headerWidth + columnLeft(cell.column, view), view.headerWidth + view.context.width - offsetWidth));
    const cellTop = ROW_HEIGHT + rowTop(cell.row, view);
    const below = cellTop + ROW_HEIGHT + 4;
    moveTo(this.element, left + x, top + (below + offsetHeight > height ? Math.max(0, cellTop - offsetHeight - 4) : below));
  }
}

function isVisible({ row, column }: CellAddress, { visible }: View): boolean {
  const inRows = row >= visible.firstRow && row < visible.firstRow + visible.rowCount;
  return inRows && column >= visible.firstColumn && column < visible.firstColumn + visible.columnCount;
}

function describe(field: HTMLElement, isExplained: boolean): void {
  const ids = (field.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => id !== "" && id !== "formula-tip");
  // What explains the cell is read before the help of the grid.
  const next = [...(isExplained ? ["formula-tip"] : []), ...ids].join(" ");
  if (field.getAttribute("aria-describedby") !== next) field.setAttribute("aria-describedby", next);
}
