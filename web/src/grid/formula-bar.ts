import { make } from "./dom";

const MAX_HEIGHT = 160;
/** The longest formula is shorter. The rest of a text is shown when the field gets the focus. */
const MAX_SHOWN = 10_000;

/** The name box and the text of the active cell. The text has one line, and more while it is edited. */
export class FormulaBar {
  readonly nameBox = make("input", "name-box", { "aria-label": "Go to cell or range", spellcheck: "false", autocomplete: "off", enterkeyhint: "go" });
  readonly formula = make("textarea", "formula", {
    "aria-label": "Contents of the active cell",
    autocapitalize: "off",
    autocomplete: "off",
    autocorrect: "off",
    spellcheck: "false",
    enterkeyhint: "done",
    rows: "1",
  });
  readonly #field = make("div", "formula-field", {}, this.formula);
  readonly element = make("div", "bar", {}, this.nameBox, this.#field);

  /** Shows the selection, unless the user types into a box. */
  draw(name: string, contents: string, isReadOnly: boolean, focused: Element | null): void {
    const isFocused = focused === this.formula;
    const shown = contents.slice(0, MAX_SHOWN);
    if (focused !== this.nameBox && this.nameBox.value !== name) this.nameBox.value = name;
    if (!isFocused && this.formula.value !== shown) this.formula.value = shown;
    this.formula.readOnly = isReadOnly;
    this.#fit(isFocused);
  }

  /** Opens the field over the grid: a bar that grows would move the cells that the user points at. */
  #fit(isFocused: boolean): void {
    const { style } = this.formula;
    if (!isFocused) {
      style.height = "";
      return;
    }
    style.height = "0";
    style.height = `${Math.max(this.#field.offsetHeight, Math.min(this.formula.scrollHeight, MAX_HEIGHT))}px`;
  }
}
