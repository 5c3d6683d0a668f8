import { callAt, completionAt, type Completion } from "./formula-completion";
import { caretOf, editedFormula, typeOver, type FieldContext } from "./formula-field";
import { parseSignatures, type FunctionInfo } from "./formula-functions";
import { FormulaPopup, type Hint } from "./formula-popup";
import { SIGNATURES } from "./functions";

/**
 * Completes the word that is typed, and shows the arguments of the function around the caret. With its list of functions,
 * it is as large as a third of the grid, so it is loaded when the first formula is typed.
 */
export class FormulaSuggestions {
  readonly #popup = new FormulaPopup((index) => this.#accept(index));
  readonly #functions: readonly FunctionInfo[] = parseSignatures(SIGNATURES);
  /** The text and the caret after the last typed letter. Words are suggested there only, not after a move of the caret. */
  #typed = "";
  #completion: Completion | null = null;
  #selected = -1;

  constructor(private readonly context: FieldContext) {
    const { root, editor, bar, controller } = context;
    root.append(this.#popup.element);
    // What was typed while this file was loaded is continued.
    const edited = editedFormula(context);
    if (edited) this.#typed = place(edited.element);
    for (const field of [editor.element, bar.formula]) {
      field.addEventListener("input", () => (this.#typed = place(field)));
      for (const type of ["keyup", "pointerup"]) field.addEventListener(type, () => field.value.startsWith("=") && controller.redraw());
    }
  }

  draw(): void {
    const field = editedFormula(this.context)?.element ?? null;
    this.#refresh(field);
    this.#popup.draw(field, field && this.#hint(field), this.#completion?.items ?? [], this.#selected);
  }

  #refresh(field: HTMLTextAreaElement | null): void {
    const isTyped = field !== null && place(field) === this.#typed;
    this.#show(isTyped ? completionAt(field.value, caretOf(field), this.#words()) : null);
  }

  /** Returns whether the key was used. */
  handleKey(event: KeyboardEvent): boolean {
    const hasModifier = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
    // Who types fast presses Tab before the list is drawn.
    if (event.key === "Tab") this.#refresh(editedFormula(this.context)?.element ?? null);
    const completion = this.#completion;
    if (!completion || hasModifier) return false;
    switch (event.key) {
      case "ArrowDown":
      case "ArrowUp":
        return this.#select(event.key === "ArrowDown" ? 1 : -1, completion.items.length);
      case "Enter":
      case "Tab":
        return this.#selected >= 0 && this.#accept(this.#selected);
      case "Escape":
        this.#typed = "";
        this.#completion = null;
        this.context.controller.redraw();
        return true;
    }
    return false;
  }

  #select(step: 1 | -1, count: number): boolean {
    this.#selected = this.#selected < 0 && step < 0 ? count - 1 : (this.#selected + step + count) % count;
    this.context.controller.redraw();
    return true;
  }

  #accept(index: number): boolean {
    const field = editedFormula(this.context)?.element;
    const item = this.#completion?.items[index];
    if (!field || !item || !this.#completion) return false;
    typeOver(field, this.#completion.span, item.text);
    this.#typed = "";
    this.#show(null);
    return true;
  }

  /** Keeps the selected word while the same words are shown. */
  #show(completion: Completion | null): void {
    const isSame = JSON.stringify(completion) === JSON.stringify(this.#completion);
    if (!isSame) this.#selected = completion?.isCertain ? 0 : -1;
    this.#completion = completion;
  }

  #hint(field: HTMLTextAreaElement): Hint | null {
    const call = callAt(field.value, caretOf(field).end);
    const name = call?.name.toUpperCase().replace(/^_XLFN\.(?:_XLWS\.)?/, "");
    const info = this.#functions.find((one) => one.name === name);
    return call && info ? { info, argument: call.argument } : null;
  }

  #words(): Parameters<typeof completionAt>[2] {
    const { source } = this.context.controller;
    return { functions: this.#functions, names: source?.names ?? [], sheets: source?.sheets.map(({ name }) => name) ?? [] };
  }
}

function place(field: HTMLTextAreaElement): string {
  return `${field.selectionStart} ${field.selectionEnd} ${field.value}`;
}
