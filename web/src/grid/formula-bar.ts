import { make } from "./dom";

/** The name box and the text of the active cell. */
export class FormulaBar {
  readonly nameBox = make("input", "name-box", { "aria-label": "Go to cell or range", spellcheck: "false", autocomplete: "off", enterkeyhint: "go" });
  readonly formula = make("input", "formula", { "aria-label": "Contents of the active cell", spellcheck: "false", autocomplete: "off", enterkeyhint: "done" });
  readonly element = make("div", "bar", {}, this.nameBox, this.formula);

  /** Shows the selection, unless the user types into a box. */
  draw(name: string, contents: string, isReadOnly: boolean, focused: Element | null): void {
    if (focused !== this.nameBox && this.nameBox.value !== name) this.nameBox.value = name;
    if (focused !== this.formula && this.formula.value !== contents) this.formula.value = contents;
    this.formula.readOnly = isReadOnly;
  }
}
