import { rangeName } from "./address";
import { caretOf, editedFormula, typeOver, type EditedField, type FieldContext } from "./formula-field";
import { cycleReferences, pointPlace, type Span } from "./formula-point";
import { ARROWS } from "./keys";
import { navigate, type Direction } from "./navigation";
import { sheetText } from "./references";
import { currentRange, selectCell, type Selection } from "./selection";

interface Pointed {
  element: HTMLTextAreaElement;
  span: Span;
  text: string;
  /** The cells that the reference names, and the end that arrow keys move. */
  selection: Selection;
}

/** Writes references to the cells that the user points at with arrow keys, and changes their `$` with F4. */
export class FormulaPointing {
  #last: Pointed | null = null;

  constructor(private readonly context: FieldContext) {}

  /** The reference that was pointed at, as long as the caret is still after it. */
  get pointed(): Pointed | null {
    const last = this.#last;
    const field = editedFormula(this.context)?.element;
    if (!last || last.element !== field) return null;
    const caret = caretOf(field);
    const isUnchanged = caret.start === caret.end && caret.end === last.span.end && field.value.slice(last.span.start, last.span.end) === last.text;
    return isUnchanged ? last : null;
  }

  /** Writes a reference to the selected cells. Returns false if none is allowed at the caret. */
  point(selection: Selection, isReplacing: boolean): boolean {
    const field = editedFormula(this.context);
    if (!field) return false;
    const { element } = field;
    const place = pointPlace(element.value, caretOf(element), this.pointed?.span ?? null, isReplacing);
    if (!place) return false;
    const { size } = this.context.controller;
    const text = this.#sheetPrefix() + rangeName(currentRange(selection), size.rows, size.columns);
    typeOver(element, place, text);
    this.#last = { element, span: { start: place.start, end: place.start + text.length }, text, selection };
    return true;
  }

  #sheetPrefix(): string {
    const { source, visit } = this.context.controller;
    const shown = source?.sheets.find(({ sheet }) => sheet === source.sheet);
    return visit.isAway && shown ? `${sheetText(shown.name)}!` : "";
  }

  /** Shows another sheet and points at its active cell. Returns false if no formula is edited. */
  showSheet(sheet: number): boolean {
    const { controller } = this.context;
    if (!editedFormula(this.context)) return false;
    if (sheet === controller.source?.sheet) return true;
    const { pointed } = this;
    controller.visit.show(sheet);
    if (controller.visit.isAway) this.point(selectCell(controller.selection.active.row, controller.selection.active.column), true);
    // The cell that was pointed at in the other sheet is not meant.
    else if (pointed) typeOver(pointed.element, pointed.span, "");
    return true;
  }

  /** Adds a `,` after the pointed reference, so that the next one becomes another argument. */
  separate(): void {
    const { pointed } = this;
    if (pointed) typeOver(pointed.element, { start: pointed.span.end, end: pointed.span.end }, ",");
  }

  /** Returns whether the key was used. */
  handleKey(event: KeyboardEvent): boolean {
    const field = editedFormula(this.context);
    if (!field || event.altKey || event.metaKey) return false;
    if (event.key === "F4" && !event.ctrlKey && !event.shiftKey) return this.#cycle(field.element);
    const direction = ARROWS[event.key];
    return direction !== undefined && this.#move(field, direction, event);
  }

  #move(field: EditedField, direction: Direction, event: KeyboardEvent): boolean {
    const { pointed } = this;
    const canStart = field.isPointing && !event.shiftKey;
    if (!pointed && !canStart) return false;
    const { controller } = this.context;
    const start = controller.visit.isAway ? controller.selection.active : field.cell;
    const from = pointed?.selection ?? selectCell(start.row, start.column);
    if (!controller.source) return false;
    const next = navigate(from, { kind: event.ctrlKey ? "edge" : "cell", direction }, event.shiftKey, controller.navigationContext(controller.source));
    if (!this.point(next, false)) return false;
    controller.scroll({ kind: "reveal", ...next.head });
    return true;
  }

  #cycle(element: HTMLTextAreaElement): boolean {
    const edited = cycleReferences(element.value, caretOf(element));
    if (!edited) return true;
    typeOver(element, { start: 0, end: element.value.length }, edited.text);
    element.setSelectionRange(edited.selection.start, edited.selection.end);
    return true;
  }
}
