import type { CellAddress } from "./address";
import type { Controller } from "./controller";
import type { Editor } from "./editor";
import { fillTarget } from "./fill-target";
import { ROW_HEIGHT } from "./limits";
import type { Overlay } from "./overlay";
import { columnOffset, frozenHeight, type ScrollContext, type ScrollPosition } from "./scroll";
import { contains, currentRange, pickCell, pickColumn, pickRow, selectAll, type SelectionMode } from "./selection";

type Part = "cell" | "row" | "column" | "corner";

export interface Hit extends CellAddress {
  part: Part;
}

interface Drag {
  kind: Part | "fill" | "resize";
  pointer: number;
  column: number;
  startX: number;
  startWidth: number;
  x: number;
  y: number;
  hasMoved: boolean;
}

const RESIZE_THRESHOLD = 4;
const LONG_PRESS_MS = 500;
const LONG_PRESS_MOVE = 10;

export interface PointerUi {
  viewport: HTMLElement;
  headerWidth(): number;
  /** Sets a column's width to that of its visible contents. */
  fitColumn(column: number): void;
  openMenu(x: number, y: number): void;
}

/** Mouse and touch on cells and headers. Touch selects by tapping; moving a finger scrolls. */
export class Pointer {
  #drag: Drag | null = null;
  #frame = 0;
  #lastType = "mouse";
  #press: { x: number; y: number; timer: number } | null = null;
  /** The press opened the menu: its click and its menu event are over. */
  #isPressUsed = false;
  /** The last two presses. Their capture hides from a double click on which part it was. */
  #drags: Drag[] = [];

  constructor(
    private readonly controller: Controller,
    private readonly editor: Editor,
    private readonly overlay: Overlay,
    private readonly ui: PointerUi,
  ) {
    const { viewport } = ui;
    viewport.addEventListener("pointerdown", (event) => this.#handleDown(event));
    viewport.addEventListener("pointermove", (event) => this.#handleMove(event));
    viewport.addEventListener("pointerup", (event) => this.#handleUp(event));
    viewport.addEventListener("pointercancel", () => this.#endDrag());
    for (const type of ["pointercancel", "pointerup", "pointerleave"]) viewport.addEventListener(type, () => this.#endPress());
    viewport.addEventListener("click", (event) => this.#handleClick(event));
    viewport.addEventListener("dblclick", (event) => this.#handleDoubleClick(event));
    viewport.addEventListener("contextmenu", (event) => this.#handleMenu(event));
    // The default action of a press would take the focus from the textarea, and end a composition.
    viewport.addEventListener("mousedown", (event) => event.target !== editor.element && event.preventDefault());
  }

  #handleDown(event: PointerEvent): void {
    this.#lastType = event.pointerType;
    if (event.button !== 0 || event.target === this.editor.element) return;
    const target = event.target as Element;
    const handle = target.closest(".resize, .fill-handle");
    if (event.pointerType === "touch" && !handle) return this.#startPress(event);
    this.commitOpenText();
    const hit = this.hit(event.clientX, event.clientY);
    const kind = !handle ? hit.part : handle.classList.contains("resize") ? "resize" : "fill";
    const column = kind === "resize" ? columnOf(handle!) : hit.column;
    const startWidth = this.controller.context.columns.sizeOf(column);
    this.#drag = { kind, pointer: event.pointerId, column, startX: event.clientX, startWidth, x: event.clientX, y: event.clientY, hasMoved: false };
    this.ui.viewport.setPointerCapture(event.pointerId);
    if (!handle) this.#pick(hit, modeOf(event));
    this.editor.focus();
  }

  /** A long press opens the menu. Some browsers report one by themselves, and Safari on phones does not. */
  #startPress({ clientX: x, clientY: y }: PointerEvent): void {
    this.#endPress();
    this.#isPressUsed = false;
    const timer = window.setTimeout(() => {
      this.#isPressUsed = true;
      this.#openMenu(x, y);
    }, LONG_PRESS_MS);
    this.#press = { x, y, timer };
  }

  #endPress(): void {
    clearTimeout(this.#press?.timer);
    this.#press = null;
  }

  #handleMove(event: PointerEvent): void {
    const drag = this.#drag;
    const press = this.#press;
    if (press && Math.hypot(event.clientX - press.x, event.clientY - press.y) > LONG_PRESS_MOVE) this.#endPress();
    if (!drag || event.pointerId !== drag.pointer) return;
    drag.hasMoved ||= Math.abs(event.clientX - drag.startX) > RESIZE_THRESHOLD || drag.kind !== "resize";
    drag.x = event.clientX;
    drag.y = event.clientY;
    if (!drag.hasMoved) return;
    if (drag.kind === "resize") this.controller.setColumnWidth(drag.column, drag.startWidth + drag.x - drag.startX);
    else this.#extend();
  }

  #handleUp(event: PointerEvent): void {
    if (!this.#drag || event.pointerId !== this.#drag.pointer) return;
    const target = this.overlay.fillTarget;
    this.#drags = [...this.#drags.slice(-1), this.#drag];
    if (this.#drag.kind === "fill" && target) this.controller.fill(currentRange(this.controller.selection), target);
    this.#endDrag();
  }

  #endDrag(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#drag = null;
    this.overlay.fillTarget = null;
    this.controller.redraw();
  }

  /** Extends the selection or the fill to the pointer, and scrolls while the pointer is outside the body. */
  #extend(): void {
    const drag = this.#drag;
    if (!drag) return;
    const hit = this.hit(drag.x, drag.y);
    if (drag.kind === "fill") {
      const target = fillTarget(currentRange(this.controller.selection), hit.row, hit.column);
      this.overlay.fillTarget = target;
      this.controller.redraw();
    } else if (drag.kind !== "corner") this.#pick({ ...hit, part: drag.kind as Part }, "extend");
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#scrollTowardsPointer());
  }

  #scrollTowardsPointer(): void {
    this.#frame = 0;
    const drag = this.#drag;
    if (!drag) return;
    const box = this.ui.viewport.getBoundingClientRect();
    const y = drag.kind === "column" ? 0 : outside(drag.y, box.top + ROW_HEIGHT, box.bottom);
    const x = drag.kind === "row" ? 0 : outside(drag.x, box.left + this.ui.headerWidth(), box.right);
    if (x === 0 && y === 0) return;
    this.controller.scroll({ kind: "by", x: x / 2, y: y / 2 });
    this.#extend();
  }

  /** Only a tap makes a click: a finger that scrolled makes none. */
  #handleClick(event: MouseEvent): void {
    if (this.#lastType !== "touch" || this.#isPressUsed || event.target === this.editor.element) return;
    if ((event.target as Element).closest(".resize, .fill-handle")) return;
    this.commitOpenText();
    const hit = this.hit(event.clientX, event.clientY);
    const { active } = this.controller.selection;
    const isSecondTap = hit.part === "cell" && hit.row === active.row && hit.column === active.column;
    const isFocused = (this.editor.element.getRootNode() as ShadowRoot).activeElement === this.editor.element;
    if (isSecondTap && isFocused) return this.#openEditor();
    this.#pick(hit, "replace");
    this.editor.setTouchKeyboard(false);
    this.editor.focus();
  }

  #handleDoubleClick(event: MouseEvent): void {
    if (this.#lastType === "touch" || event.target === this.editor.element) return;
    const { kind, column = 0 } = this.#drags[this.#drags.length - 1] ?? {};
    // For browsers, a click soon after a drag makes a double click.
    if (kind === "resize" && !this.#drags.some(({ hasMoved }) => hasMoved)) this.ui.fitColumn(column);
    if (kind === "cell" && this.hit(event.clientX, event.clientY).part === "cell") this.#openEditor();
  }

  #openEditor(): void {
    if (this.controller.refusesEdit()) return;
    this.controller.edit(this.controller.editStart("open"));
    this.editor.setTouchKeyboard(true);
    this.editor.focus();
  }

  #handleMenu(event: MouseEvent): void {
    if (event.target === this.editor.element && this.controller.editState.mode !== "ready") return;
    event.preventDefault();
    this.#endPress();
    if (!(this.#lastType === "touch" && this.#isPressUsed)) this.#openMenu(event.clientX, event.clientY);
    this.#isPressUsed = true;
  }

  #openMenu(x: number, y: number): void {
    this.commitOpenText();
    const hit = this.hit(x, y);
    const isSelected = hit.part !== "corner" && this.controller.selection.ranges.some((range) => contains(range, hit.row, hit.column));
    if (!isSelected) this.#pick(hit, "replace");
    this.ui.openMenu(x, y);
  }

  #pick(hit: Hit, mode: SelectionMode): void {
    const { controller } = this;
    const { selection, size } = controller;
    const isExtending = mode === "extend";
    if (hit.part === "corner") controller.select(selectAll(selection, size), false);
    else if (hit.part === "row") controller.select(pickRow(selection, hit.row, mode, size), false);
    else if (hit.part === "column") controller.select(pickColumn(selection, hit.column, mode, size), false);
    else controller.select(pickCell(selection, hit, mode), !isExtending || this.#drag === null);
  }

  commitOpenText(): void {
    if (this.controller.editState.mode === "ready") return;
    this.controller.edit({ kind: "commit", text: this.editor.element.value, advance: null });
  }

  /** Returns the cell or header at a place of the window; outside the body, the nearest cell. */
  hit(clientX: number, clientY: number): Hit {
    const { context, position } = this.controller;
    const box = this.ui.viewport.getBoundingClientRect();
    const x = clientX - box.left - this.ui.headerWidth();
    const y = clientY - box.top - ROW_HEIGHT;
    const left = columnOffset(position, context);
    const column = context.columns.indexAt(left + Math.max(0, Math.min(x, context.width - 1)));
    const row = Math.min(rowAt(Math.max(0, y), position, context), context.rows.count - 1);
    const part = y < 0 ? (x < 0 ? "corner" : "column") : x < 0 ? "row" : "cell";
    return { part, row, column };
  }
}

function rowAt(y: number, position: ScrollPosition, context: ScrollContext): number {
  const frozen = frozenHeight(context);
  if (y < frozen) return Math.floor(y / ROW_HEIGHT);
  return position.row + Math.floor((Math.min(y - frozen, context.height - 1) + position.rowPixel) / ROW_HEIGHT);
}

/** Returns how far a place is before the start, as a negative number, or after the end. */
export function outside(at: number, start: number, end: number): number {
  if (at < start) return at - start;
  return at > end ? at - end : 0;
}

function modeOf(event: PointerEvent): SelectionMode {
  if (event.shiftKey) return "extend";
  return event.ctrlKey || event.metaKey ? "add" : "replace";
}

function columnOf(handle: Element): number {
  return Number(handle.closest("[aria-colindex]")?.getAttribute("aria-colindex")) - 2;
}
