import type { Mark } from "../data/types";
import { editedFormula, type FieldContext } from "./formula-field";
import { placeReferences, referenceMarks, type PlacedReference } from "./formula-highlights";
import { FormulaMirror, type StyledSpan } from "./formula-mirror";
import { FormulaPointer, type FormulaPointerUi } from "./formula-pointer";
import { FormulaPointing } from "./formula-pointing";
import { FORMULA_STYLE } from "./formula-style";
import { tokenize, type Token } from "./formula-tokens";
import { MARK_COLORS } from "./limits";

/** Helps to write formulas: colors, pointing at cells, and F4. The grid calls it before and after it draws a frame. */
export class FormulaAssist {
  private readonly mirrors: readonly FormulaMirror[];
  private readonly pointing: FormulaPointing;
  private spans: readonly StyledSpan[] = [];

  constructor(
    private readonly context: FieldContext,
    ui: FormulaPointerUi,
  ) {
    const { root, editor, bar } = context;
    const style = new CSSStyleSheet();
    style.replaceSync(FORMULA_STYLE);
    root.adoptedStyleSheets.push(style);
    this.mirrors = [editor.element, bar.formula].map((field) => new FormulaMirror(field));
    this.pointing = new FormulaPointing(context);
    new FormulaPointer(context, this.pointing, ui);
    // Before the fields see the key: there, an arrow key stores the text.
    root.addEventListener("keydown", (event) => this.handleKey(event as KeyboardEvent), true);
  }

  /** Finds the references of the formula that is edited, and marks their cells. Before the frame is drawn. */
  update(): void {
    const { source, marks } = this.context.controller;
    const field = source ? editedFormula(this.context) : null;
    const tokens = field ? tokenize(field.element.value) : [];
    const placed = source ? placeReferences(tokens, source.sheets, source.sheet) : [];
    this.spans = field ? styledSpans(tokens, placed) : [];
    setMarks(marks, referenceMarks(placed));
  }

  /** Colors the text. After the frame is drawn, which places the fields. */
  draw(): void {
    const text = editedFormula(this.context)?.element.value;
    for (const mirror of this.mirrors) mirror.draw(mirror.shows(text) ? this.spans : []);
  }

  private handleKey(event: KeyboardEvent): void {
    if (event.isComposing || event.keyCode === 229 || event.target !== editedFormula(this.context)?.element) return;
    if (!this.pointing.handleKey(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }
}

function setMarks(marks: { get(layer: "formula"): readonly Mark[]; set(layer: "formula", marks: readonly Mark[]): void }, next: readonly Mark[]): void {
  // An index is built for new marks only.
  if (JSON.stringify(marks.get("formula")) !== JSON.stringify(next)) marks.set("formula", next);
}

/** Returns the parts of a formula that have a color. */
function styledSpans(tokens: readonly Token[], placed: readonly PlacedReference[]): StyledSpan[] {
  const spans: StyledSpan[] = placed
    .filter(({ color }) => color >= 0)
    .map(({ start, end, color }) => ({ start, end, className: `color color-${color % MARK_COLORS}` }));
  for (const { kind, start, end } of tokens) if (kind === "text") spans.push({ start, end, className: "text" });
  return spans.sort((a, b) => a.start - b.start);
}
