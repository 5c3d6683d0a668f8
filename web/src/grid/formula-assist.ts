import type { Mark } from "../data/types";
import { editedFormula, type FieldContext } from "./formula-field";
import { placeReferences, referenceMarks, type PlacedReference } from "./formula-highlights";
import { FormulaMirror, type StyledSpan } from "./formula-mirror";
import { FormulaPointer, type FormulaPointerUi } from "./formula-pointer";
import { FormulaPointing } from "./formula-pointing";
import type { FormulaSuggestions } from "./formula-suggestions";
import { FORMULA_STYLE } from "./formula-style";
import { FormulaTip } from "./formula-tip";
import { FormulaTrace } from "./formula-trace";
import { tokenize, type Token } from "./formula-tokens";
import { isComposing } from "./keys";
import { MARK_COLORS } from "./limits";
import type { View } from "./view";

export interface FormulaAssistUi extends FormulaPointerUi {
  notify(message: string): void;
}

/** Helps to write and understand formulas: colors, suggestions, pointing at cells, explained errors, traces. The grid calls it before and after it draws a frame. */
export class FormulaAssist {
  readonly #mirrors: readonly FormulaMirror[];
  readonly #pointing: FormulaPointing;
  #suggestions: FormulaSuggestions | null = null;
  #isLoading = false;
  readonly #trace: FormulaTrace;
  readonly #tip: FormulaTip;
  #spans: readonly StyledSpan[] = [];

  constructor(
    private readonly context: FieldContext,
    ui: FormulaAssistUi,
  ) {
    const { root, editor, bar } = context;
    const style = new CSSStyleSheet();
    style.replaceSync(FORMULA_STYLE);
    root.adoptedStyleSheets.push(style);
    this.#mirrors = [new FormulaMirror(editor.element, editor.isComposing), new FormulaMirror(bar.formula)];
    this.#pointing = new FormulaPointing(context);
    this.#trace = new FormulaTrace(() => context.controller.redraw(), ui.notify);
    this.#tip = new FormulaTip(editor.element, ui.viewport);
    root.append(this.#tip.element);
    new FormulaPointer(context, this.#pointing, ui);
    // Before the fields see the key: there, an arrow key stores the text.
    root.addEventListener("keydown", (event) => this.#handleKey(event as KeyboardEvent), true);
  }

  /** Finds the references of the formula that is edited, and marks their cells. Before the frame is drawn. */
  update(): void {
    const { source, marks, selection, visit } = this.context.controller;
    const field = source ? editedFormula(this.context) : null;
    if (field) this.#loadSuggestions();
    const tokens = field ? tokenize(field.element.value) : [];
    const placed = source ? placeReferences(tokens, source.sheets, visit.sheet) : [];
    this.#spans = field ? styledSpans(tokens, placed) : [];
    const traced = source && !field ? this.#trace.marks(source, selection.active) : [];
    setMarks(marks, [...referenceMarks(placed), ...traced]);
  }

  /** Colors the text. After the frame is drawn, which places the fields. */
  draw(view: View): void {
    const isReady = this.context.controller.editState.mode === "ready" && !this.context.barEvents.cell;
    this.#tip.draw(view.source, view, isReady);
    const text = editedFormula(this.context)?.element.value;
    this.#suggestions?.draw();
    for (const mirror of this.#mirrors) mirror.draw(mirror.shows(text) ? this.#spans : []);
  }

  #loadSuggestions(): void {
    if (this.#suggestions || this.#isLoading) return;
    this.#isLoading = true;
    import("./formula-suggestions").then(
      ({ FormulaSuggestions }) => {
        this.#suggestions = new FormulaSuggestions(this.context);
        this.context.controller.redraw();
      },
      // Formulas are written without suggestions. The next letter tries again.
      () => (this.#isLoading = false),
    );
  }

  /** Shows another sheet to point at its cells. Returns false if no formula is edited. */
  showSheet(sheet: number): boolean {
    return this.#pointing.showSheet(sheet);
  }

  toggleTrace(): void {
    this.#trace.toggle();
  }

  #handleKey(event: KeyboardEvent): void {
    if (isComposing(event)) return;
    if (this.#isReadyKey(event)) return;
    if (event.target !== editedFormula(this.context)?.element) return;
    if (!this.#suggestions?.handleKey(event) && !this.#pointing.handleKey(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Keys on a cell that is not edited: F9 traces it; Escape hides its explanation, and still lets Tab leave the grid. */
  #isReadyKey(event: KeyboardEvent): boolean {
    const { editor, controller } = this.context;
    if (event.target !== editor.element || controller.editState.mode !== "ready") return false;
    if (event.key === "Escape") this.#tip.hide();
    if (event.key !== "F9" || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return false;
    event.preventDefault();
    event.stopPropagation();
    this.#trace.toggle();
    return true;
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
