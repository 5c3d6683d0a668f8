import type { SheetChange } from "../data/types";
import type { CellAddress } from "./address";
import { editText } from "./cell-text";
import { deletedText } from "./edit";
import type { Controller } from "./controller";
import type { Editor } from "./editor";
import type { FormulaBar } from "./formula-bar";
import { isComposing } from "./keys";
import { shiftCell } from "./shift";

export interface FormulaBarUi {
  /** Returns false if the text is no cell or range. */
  goTo(text: string): boolean;
  notify(message: string): void;
}

/** Connects the name box and the formula bar. Focus returns to the grid after Enter and Escape. */
export class FormulaBarEvents {
  /** The cell that the text belongs to: the selection may change while the bar has the focus. */
  #started: { sheet: number; cell: CellAddress; original: string } | null = null;
  #unsubscribe: (() => void) | undefined;

  constructor(
    private readonly bar: FormulaBar,
    private readonly controller: Controller,
    private readonly editor: Editor,
    private readonly ui: FormulaBarUi,
  ) {
    attachNameBox(bar.nameBox, controller, editor, ui);
    bar.formula.addEventListener("focus", () => this.#start());
    bar.formula.addEventListener("blur", () => {
      this.#commit();
      controller.redraw();
    });
    bar.formula.addEventListener("keydown", (event) => this.#handleKey(event));
    for (const type of ["input", "compositionend"]) bar.formula.addEventListener(type, () => controller.redraw());
  }

  /** The cell whose text is edited in the bar, or null. */
  get cell(): CellAddress | null {
    return this.#started?.cell ?? null;
  }

  #start(): void {
    const { controller } = this;
    const { source } = controller;
    if (!source) return;
    const { editState } = controller;
    const { active } = controller.selection;
    const isOpen = editState.mode !== "ready";
    const { cell, original } = isOpen ? editState : { cell: active, original: editText(source.cellAt(active.row, active.column)) };
    this.#started = { sheet: controller.visit.sheet, cell, original };
    // A text that was begun in the cell continues in the bar, which showed only the start of a long one.
    const text = isOpen ? this.editor.element.value : original;
    if (this.bar.formula.value !== text) this.bar.formula.value = text;
    this.#unsubscribe?.();
    this.#unsubscribe = source.subscribe((change) => this.#follow(change));
    if (isOpen) controller.handOver();
    controller.redraw();
  }

  #commit(): void {
    const { bar } = this;
    const started = this.#started;
    this.#started = null;
    this.#unsubscribe?.();
    const isChanged = started !== null && bar.formula.value !== started.original;
    this.controller.storeAtHome(isChanged ? { ...started.cell, input: bar.formula.value } : undefined);
  }

  /** Keeps the text with its cell while others insert and delete rows, columns and sheets. */
  #follow(change: SheetChange): void {
    if (!this.#started) return;
    const { cell } = this.#started;
    const { visit } = this.controller;
    const isShift = change.kind === "layout" && change.axis !== undefined && !visit.isAway;
    const { axis = "rows", at = 0, count = 0 } = isShift ? change : {};
    const moved = visit.sheet === this.#started.sheet ? shiftCell(cell, { axis, at, count }) : null;
    if (moved) {
      this.#started.cell = moved;
      return;
    }
    this.#started = null;
    this.ui.notify(deletedText(cell, this.bar.formula.value));
    this.editor.focus();
  }

  #handleKey(event: KeyboardEvent): void {
    if (isComposing(event) || (event.key !== "Enter" && event.key !== "Escape")) return;
    event.preventDefault();
    if (event.key === "Enter" && (event.altKey || event.ctrlKey)) return this.#breakLine();
    if (event.key === "Escape") this.#started = null;
    if (event.key === "Enter") {
      this.#commit();
      this.controller.advance("rows", event.shiftKey ? -1 : 1);
    }
    this.editor.focus();
  }

  #breakLine(): void {
    const { formula } = this.bar;
    formula.setRangeText("\n", formula.selectionStart, formula.selectionEnd, "end");
    this.controller.redraw();
  }
}

function attachNameBox(nameBox: HTMLInputElement, controller: Controller, editor: Editor, ui: FormulaBarUi): void {
  nameBox.addEventListener("keydown", (event) => {
    if (isComposing(event) || (event.key !== "Enter" && event.key !== "Escape")) return;
    // The default action would add a line break to the textarea, which has the focus by then.
    event.preventDefault();
    if (event.key === "Escape" || ui.goTo(nameBox.value)) editor.focus();
  });
  nameBox.addEventListener("focus", () => nameBox.select());
  nameBox.addEventListener("blur", () => controller.redraw());
}
