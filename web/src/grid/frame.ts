import type { Range, SheetSource } from "../data/types";
import type { Controller } from "./controller";
import { Body } from "./body";
import { ColumnHeaders } from "./column-headers";
import { make, setAttribute } from "./dom";
import type { Editor } from "./editor";
import { ROW_HEIGHT } from "./limits";
import type { Overlay } from "./overlay";
import type { Scroller } from "./scroller";
import { someCell } from "./selection";
import { rowHeaderWidth, shownRanges, visibleRange, type View } from "./view";

/** Draws headers, cells, selection and editor in the same frame from one view, so that they never drift apart. */
export class Frame {
  readonly grid = make("div", "grid", { role: "grid", "aria-multiselectable": "true", "aria-label": "Cells", translate: "no" });
  readonly #headers = new ColumnHeaders();
  readonly #body = new Body();
  #layoutKey = "";
  #requestKey = "";
  #requestedOf: SheetSource | null = null;
  view: View | null = null;

  constructor(
    private readonly controller: Controller,
    private readonly scroller: Scroller,
    private readonly overlay: Overlay,
    private readonly editor: Editor,
  ) {
    this.grid.append(this.#headers.element, this.#body.element);
    scroller.viewport.append(this.grid, overlay.element, editor.element);
  }

  get headerWidth(): number {
    return this.view?.headerWidth ?? 0;
  }

  draw(): View | null {
    const { controller, scroller } = this;
    const { source } = controller;
    if (!source) return null;
    const { clientWidth, clientHeight } = scroller.element;
    const { row } = controller.position;
    const headerWidth = rowHeaderWidth(Math.min(row + Math.ceil(clientHeight / ROW_HEIGHT), controller.size.rows - 1));
    controller.setBodySize(clientWidth - headerWidth, clientHeight - ROW_HEIGHT);
    const { context, position, selection } = controller;
    const visible = visibleRange(position, context);
    this.view = { source, context, position, selection, visible, headerWidth, dataVersion: controller.dataVersion };
    this.#layout(this.view, clientWidth, clientHeight);
    this.#request(this.view);
    for (const pane of [this.#headers, this.#body, this.editor]) pane.draw(this.view);
    this.overlay.draw(this.view, controller.marks, controller.canEdit);
    return this.view;
  }

  /** A source loads one range at a time: that in view, then frozen rows, then that in view again. */
  #request(view: View): void {
    const { source } = view;
    const isMissing = (range: Range) => someCell(range, (row, column) => !source.isLoaded(row, column));
    const [frozen, scrolled] = shownRanges(view);
    const wanted = scrolled && isMissing(frozen!) && !isMissing(scrolled) ? frozen! : view.visible;
    const key = `${this.controller.loadVersion} ${source.sheet} ${JSON.stringify(wanted)}`;
    if (key === this.#requestKey && source === this.#requestedOf) return;
    this.#requestKey = key;
    this.#requestedOf = source;
    source.request(wanted);
  }

  sort(): void {
    this.#headers.sort();
    this.#body.sort();
  }

  /** Resizing the tall element costs a layout, so it is done only if its length changed. */
  #layout(view: View, width: number, height: number): void {
    const { rows, columns } = view.context;
    const key = [width, height, view.headerWidth, rows.length, columns.length].join();
    this.scroller.context = view.context;
    if (key === this.#layoutKey) return;
    this.#layoutKey = key;
    this.scroller.layout(view.context, view.headerWidth, ROW_HEIGHT);
    setAttribute(this.grid, "aria-rowcount", String(rows.count + 1));
    setAttribute(this.grid, "aria-colcount", String(columns.count + 1));
    this.scroller.synchronize(view.position, view.context);
  }
}
