import type { CellAddress } from "./address";
import type { Controller } from "./controller";
import type { Editor } from "./editor";
import type { FormulaBar } from "./formula-bar";
import type { FormulaBarEvents } from "./formula-events";
import type { Span } from "./formula-point";

/** The field in which a text is edited: the textarea over its cell, or the formula bar. */
export interface EditedField {
  element: HTMLTextAreaElement;
  cell: CellAddress;
  /** Arrow keys point at cells where a reference is allowed, instead of moving the caret. */
  isPointing: boolean;
}

export interface FieldContext {
  root: ShadowRoot;
  controller: Controller;
  editor: Editor;
  bar: FormulaBar;
  barEvents: FormulaBarEvents;
}

function editedField({ root, controller, editor, bar, barEvents }: FieldContext): EditedField | null {
  const { editState } = controller;
  const { cell } = barEvents;
  if (!controller.canEdit) return null;
  if (cell && root.activeElement === bar.formula) return { element: bar.formula, cell, isPointing: false };
  if (editState.mode === "ready") return null;
  return { element: editor.element, cell: editState.cell, isPointing: editState.mode === "typing" };
}

/** Returns the field if it has the beginning of a formula. */
export function editedFormula(context: FieldContext): EditedField | null {
  const field = editedField(context);
  return field?.element.value.startsWith("=") ? field : null;
}

export function caretOf(element: HTMLTextAreaElement): Span {
  return { start: element.selectionStart, end: element.selectionEnd };
}

/** Replaces a part of the text as if it were typed, and puts the caret after it. */
export function typeOver(element: HTMLTextAreaElement, span: Span, by: string): void {
  element.setRangeText(by, span.start, span.end, "end");
  element.dispatchEvent(new InputEvent("input", { bubbles: true }));
}
