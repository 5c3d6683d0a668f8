import type { FormulaBar } from "./formula-bar";
import type { Controller } from "./controller";
import type { CellAddress } from "./address";
import { editText } from "./cell-text";
import type { Editor } from "./editor";

/** Connects the name box and the formula bar. Focus returns to the grid after Enter and Escape. */
export function attachFormulaBar(bar: FormulaBar, controller: Controller, editor: Editor, goTo: (text: string) => boolean): void {
  bar.nameBox.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key !== "Enter" && event.key !== "Escape") return;
    // The default action would add a line break to the textarea, which has the focus by then.
    event.preventDefault();
    if (event.key === "Escape" || goTo(bar.nameBox.value)) editor.focus();
  });
  bar.nameBox.addEventListener("focus", () => bar.nameBox.select());
  bar.nameBox.addEventListener("blur", () => controller.redraw());
  attachFormula(bar, controller, editor);
}

function attachFormula(bar: FormulaBar, controller: Controller, editor: Editor): void {
  // The cell that the text belongs to: the selection may change while the bar has the focus.
  let started: { cell: CellAddress; original: string } | null = null;
  const commit = (): void => {
    if (started && bar.formula.value !== started.original) controller.store([{ ...started.cell, input: bar.formula.value }]);
    started = null;
  };
  bar.formula.addEventListener("focus", () => {
    const cell = controller.selection.active;
    const isOpen = controller.editState.mode !== "ready";
    started = { cell, original: editText(controller.source?.cellAt(cell.row, cell.column)) };
    // A text that was begun in the cell continues in the bar.
    if (isOpen) controller.edit({ kind: "cancel" });
  });
  bar.formula.addEventListener("blur", () => {
    commit();
    controller.redraw();
  });
  bar.formula.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape") started = null;
    if (event.key === "Enter") {
      commit();
      controller.advance("rows", event.shiftKey ? -1 : 1);
    }
    if (event.key === "Enter" || event.key === "Escape") {
      event.preventDefault();
      editor.focus();
    }
  });
}
