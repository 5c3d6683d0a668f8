import { editedFormula, type FieldContext } from "./formula-field";
import type { FormulaPointing } from "./formula-pointing";
import { ROW_HEIGHT } from "./limits";
import { outside, type Hit } from "./pointer";
import { pickCell, pickColumn, pickRow, selectCell, type Selection } from "./selection";

interface Drag {
  pointer: number;
  x: number;
  y: number;
}

export interface FormulaPointerUi {
  viewport: HTMLElement;
  /** Returns the cell or header at a place of the window. */
  hit(clientX: number, clientY: number): Hit;
}

/**
 * Clicks and drags that name cells in the formula that is edited. They are taken before the grid sees them: there, a
 * press outside the editor stores the text.
 */
export class FormulaPointer {
  #drag: Drag | null = null;
  #frame = 0;

  constructor(
    private readonly context: FieldContext,
    private readonly pointing: FormulaPointing,
    private readonly ui: FormulaPointerUi,
  ) {
    const { root } = context;
    root.addEventListener("pointerdown", (event) => this.#handleDown(event as PointerEvent), true);
    root.addEventListener("pointermove", (event) => this.#handleMove(event as PointerEvent), true);
    for (const type of ["pointerup", "pointercancel"]) root.addEventListener(type, () => this.#endDrag(), true);
    // A tap makes a click; a finger that scrolls makes none.
    root.addEventListener("click", (event) => (event as PointerEvent).pointerType === "touch" && this.#press(event as PointerEvent), true);
    root.addEventListener("dblclick", (event) => {
      const isForFormula = (this.#isOnCells(event) && this.pointing.pointed) || this.#isOnTabs(event);
      if (isForFormula) event.stopPropagation();
    }, true);
  }

  #handleDown(event: PointerEvent): void {
    if (event.button !== 0 || event.pointerType === "touch" || !this.#press(event)) return;
    this.#drag = { pointer: event.pointerId, x: event.clientX, y: event.clientY };
    this.ui.viewport.setPointerCapture(event.pointerId);
  }

  /** Names the cell under the pointer. Returns false if the press is not for the formula. */
  #press(event: PointerEvent): boolean {
    if (!this.#isOnCells(event) || !editedFormula(this.context)) return false;
    const hit = this.ui.hit(event.clientX, event.clientY);
    if (hit.part === "corner") return false;
    const { pointed } = this.pointing;
    if (pointed && (event.ctrlKey || event.metaKey)) this.pointing.separate();
    const isExtending = pointed !== null && event.shiftKey;
    const isPointed = this.pointing.point(this.#picked(hit, isExtending ? pointed.selection : null), true);
    // In another sheet, a press that names no cell must not store the text.
    if (!isPointed && !this.context.controller.visit.isAway) return false;
    event.stopPropagation();
    return true;
  }

  #isOnCells(event: Event): boolean {
    const target = event.target as Element;
    const isField = target === this.context.editor.element;
    return this.ui.viewport.contains(target) && !isField && !target.closest(".resize");
  }

  /** Whether a formula is edited, and the event is on a tab. */
  #isOnTabs(event: Event): boolean {
    return (event.target as Element).closest(".tab-bar") !== null && editedFormula(this.context) !== null;
  }

  #picked(hit: Hit, from: Selection | null): Selection {
    const { size } = this.context.controller;
    const mode = from ? "extend" : "replace";
    const start = from ?? selectCell(hit.row, hit.column);
    if (hit.part === "row") return pickRow(start, hit.row, mode, size);
    if (hit.part === "column") return pickColumn(start, hit.column, mode, size);
    return pickCell(start, hit, mode);
  }

  #handleMove(event: PointerEvent): void {
    if (event.pointerId !== this.#drag?.pointer) return;
    event.stopPropagation();
    this.#drag.x = event.clientX;
    this.#drag.y = event.clientY;
    this.#extend();
  }

  /** Extends the reference to the pointer, and scrolls while the pointer is outside the cells. */
  #extend(): void {
    const drag = this.#drag;
    const { pointed } = this.pointing;
    if (!drag || !pointed) return this.#endDrag();
    const { size } = this.context.controller;
    const isWholeRow = pointed.selection.ranges[0]!.columnCount >= size.columns;
    const isWholeColumn = pointed.selection.ranges[0]!.rowCount >= size.rows;
    const part = isWholeRow ? "row" : isWholeColumn ? "column" : "cell";
    this.pointing.point(this.#picked({ ...this.ui.hit(drag.x, drag.y), part }, pointed.selection), false);
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#scrollTowardsPointer());
  }

  #scrollTowardsPointer(): void {
    this.#frame = 0;
    if (!this.#drag) return;
    const box = this.ui.viewport.getBoundingClientRect();
    const x = outside(this.#drag.x, box.left, box.right);
    const y = outside(this.#drag.y, box.top + ROW_HEIGHT, box.bottom);
    if (x === 0 && y === 0) return;
    this.context.controller.scroll({ kind: "by", x: x / 2, y: y / 2 });
    this.#extend();
  }

  #endDrag(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#drag = null;
  }
}
