import type { CellInput, LayoutShift, Range, SheetChange, SheetSource } from "../data/types";
import { copyInput, editText, isUnreadNumber } from "./cell-text";
import { clearInputs } from "./clear";
import { deletedText, edit, READY, type EditEvent, type EditState } from "./edit";
import type { Parts } from "./later";
import { MAX_PASTED_CELLS } from "./limits";
import { Marks } from "./marks";
import type { Direction } from "./navigation";
import type { NoticeAction } from "./notice";
import { OwnShifts } from "./own-shifts";
import { currentRange } from "./selection";
import { scrollOfShift, shiftCell, shiftSelection, spansOf } from "./shift";
import { SheetVisit } from "./sheet-visit";
import { ShownSheet, type ShownSheetUi } from "./shown-sheet";

/** What the controller needs of the element. */
export interface ControllerUi extends ShownSheetUi {
  /** Shows a message, and a button if there is an action. */
  notify(message: string, action?: NoticeAction): void;
  editorText(): string;
  setEditorText(text: string): void;
  /** Calls the function once the parts are loaded that the first cells do not need. */
  useParts(run: (parts: Parts) => void): void;
}

/** The state of the grid. Every change goes through a pure function and ends in one frame for all panes. */
export class Controller extends ShownSheet<ControllerUi> {
  editState: EditState = READY;
  readonly marks = new Marks();
  readonly visit = new SheetVisit(() => this.source);
  readonly #ownShifts = new OwnShifts();
  #unsubscribe: (() => void) | null = null;
  #refusedFor: string | null = null;
  #isTextNoted = false;
  /** Changes when cells may be elsewhere. */
  layoutVersion = 0;
  dataVersion = 0;
  /** Changes when the source was asked for other cells than those in view. */
  loadVersion = 0;

  get canEdit(): boolean {
    return this.readOnlyReason === null;
  }

  /** Why the user cannot edit, or null. */
  get readOnlyReason(): string | null {
    if (!this.source) return "No spreadsheet is open";
    const { role, readOnlyReason } = this.source.status;
    return readOnlyReason ?? (role === "viewer" ? "You can view this spreadsheet but not change it" : null);
  }

  /** Returns whether the user cannot edit, and says why the first time. */
  refusesEdit(): boolean {
    const reason = this.readOnlyReason;
    if (reason && reason !== this.#refusedFor) this.ui.notify(reason);
    this.#refusedFor = reason;
    return reason !== null;
  }

  setSource(source: SheetSource | null): void {
    this.#unsubscribe?.();
    this.visit.forget();
    this.source?.announce?.(null);
    this.source = source;
    this.dataVersion++;
    this.forget();
    this.#unsubscribe = source ? source.subscribe((change) => this.#handleChange(change)) : null;
    this.#showSheet();
  }

  /** Applies an event of the editor, stores its edit, and moves. */
  edit(event: EditEvent): void {
    if (event.kind === "type" || event.kind === "open") this.scroll({ kind: "reveal", ...event.cell });
    const step = edit(this.editState, event);
    // A text that cannot be stored stays open, so that the user can copy it.
    if (step.input && this.readOnlyReason) return this.ui.notify(this.readOnlyReason);
    this.editState = step.state;
    if (step.text !== undefined) this.ui.setEditorText(step.text);
    if (step.state.mode === "ready") this.storeAtHome(step.input);
    if (step.advance) this.#advanceTowards(step.advance);
    this.ui.invalidate();
  }

  /** Stores a text in the sheet where it was begun, which is shown again. */
  storeAtHome(input: CellInput | undefined): void {
    if (this.visit.end()) this.store(input ? [input] : []);
    else if (input) this.ui.notify(deletedText(input, input.input));
  }

  /** Ends the edit in the cell without a change, because its text continues elsewhere. */
  handOver(): void {
    this.editState = READY;
    this.ui.setEditorText("");
  }

  /** The event that starts an edit of the active cell. */
  editStart(kind: "type" | "open"): EditEvent {
    const { row, column } = this.selection.active;
    return { kind, cell: { row, column }, original: editText(this.source?.cellAt(row, column)) };
  }

  store(inputs: readonly CellInput[]): void {
    if (!this.source || inputs.length === 0) return;
    if (this.readOnlyReason) return this.ui.notify(this.readOnlyReason);
    this.source.setCells(inputs);
    this.#noteText(inputs);
    this.ui.invalidate();
  }

  /** In a table, such a text looks like a number. Said once, since it may be what the user wants. */
  #noteText(inputs: readonly CellInput[]): void {
    if (this.#isTextNoted || inputs.length > 1 || !isUnreadNumber(inputs[0]!.input)) return;
    this.#isTextNoted = true;
    this.ui.notify(`${inputs[0]!.input} is stored as text: only numbers such as 5000.50 and dates such as 2026-12-24 are recognized`);
  }

  fill(source: Range, target: Range): void {
    const sheet = this.source;
    if (!sheet || target.rowCount * target.columnCount > MAX_PASTED_CELLS) return this.ui.notify("Too many cells to fill");
    const { layoutVersion } = this;
    this.ui.useParts(({ fillInputs }) => {
      if (layoutVersion !== this.layoutVersion || sheet !== this.source) return this.ui.notify("The cells have moved. Fill again.");
      this.store(fillInputs(source, target, (row, column) => copyInput(sheet.cellAt(row, column))));
      this.goTo(target);
    });
  }

  clear(): void {
    if (!this.source) return;
    const inputs = clearInputs(this.selection, this.source);
    if (typeof inputs === "string") this.ui.notify(inputs);
    else this.store(inputs);
  }

  /** Asks the source for the cells in view, after it was asked for others. */
  loadAgain(): void {
    this.loadVersion++;
    this.ui.invalidate();
  }

  /** Fills the selected range from its first row, like Ctrl+D. */
  fillDown(): void {
    const range = currentRange(this.selection);
    if (range.rowCount > 1) this.fill({ ...range, rowCount: 1 }, range);
  }

  /** Inserts as many rows or columns before each selected span as it has. */
  insert(axis: "rows" | "columns"): void {
    this.#shift(axis, 1);
  }

  delete(axis: "rows" | "columns"): void {
    this.#shift(axis, -1);
  }

  #shift(axis: "rows" | "columns", sign: 1 | -1): void {
    const { source } = this;
    if (!source || !this.canEdit) return;
    for (const { at, count } of spansOf(this.selection.ranges, axis)) {
      this.#ownShifts.add({ axis, at, count: sign * count });
      if (axis === "rows") sign > 0 ? source.insertRows(at, count) : source.deleteRows(at, count);
      else sign > 0 ? source.insertColumns(at, count) : source.deleteColumns(at, count);
    }
  }

  undo(kind: "undo" | "redo"): void {
    if (!this.source || !this.canEdit) return;
    this.source[kind]().then(
      (message) => this.ui.notify(message),
      (error: unknown) => this.ui.notify(error instanceof Error ? error.message : String(error)),
    );
  }

  #advanceTowards(direction: Direction): void {
    const axis = direction === "up" || direction === "down" ? "rows" : "columns";
    this.advance(axis, direction === "down" || direction === "right" ? 1 : -1);
  }

  #handleChange(change: SheetChange): void {
    if (change.kind !== "status") this.dataVersion++;
    // A source reports another sheet by any change.
    if (change.kind === "sheets" || this.source?.sheet !== this.shownSheet) this.#showSheet();
    else if (change.kind === "layout") this.#handleLayout(change);
    if (change.kind !== "status") this.grow();
    this.ui.invalidate();
  }

  #handleLayout(change: Partial<LayoutShift>): void {
    this.layoutVersion++;
    for (const { shift, isOwn } of this.#ownShifts.shownBy(change)) this.#applyShift(shift, isOwn);
  }

  #applyShift(shift: LayoutShift, isOwn: boolean): void {
    const { axis, at, count } = shift;
    const { columns } = this;
    if (axis === "columns") this.columns = count > 0 ? columns.withInserted(at, count) : columns.withDeleted(at, -count);
    this.marks.shift(this.shownSheet, shift);
    this.#shiftEdit(shift);
    // The user's own new rows stay selected; rows of others move the selection with its cells.
    this.keep(isOwn ? this.selection : shiftSelection(this.selection, shift, this.size));
    // Rows inserted exactly at the top row are shown: only rows above the view move it.
    const first = axis === "rows" ? this.position.row : this.position.column;
    if (count < 0 || at !== first) this.scroll(scrollOfShift(shift));
    this.ui.onSelectionChange();
  }

  /** An open text stays with its cell. */
  #shiftEdit(shift: LayoutShift): void {
    const { editState } = this;
    if (editState.mode === "ready" || this.visit.isAway) return;
    const cell = shiftCell(editState.cell, shift);
    if (cell) this.editState = { ...editState, cell };
    else this.#giveBackText();
  }

  /** Shows an open text whose cell is gone, so that it is not lost. */
  #giveBackText(): void {
    if (this.editState.mode === "ready") return;
    this.ui.notify(deletedText(this.editState.cell, this.ui.editorText()));
    this.edit({ kind: "cancel" });
  }

  /** Shows the sheet of the source. */
  #showSheet(): void {
    const sheet = this.source?.sheet ?? -1;
    if (sheet !== this.shownSheet) {
      if (!this.visit.hasBegun) this.#giveBackText();
      this.switchTo(sheet);
      this.#ownShifts.clear();
      this.layoutVersion++;
    }
    this.grow();
    this.scroll({ kind: "resized" });
    this.ui.onSelectionChange();
  }
}
