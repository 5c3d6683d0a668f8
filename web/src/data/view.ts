/** The displayed state: the cells of the server with the pending edits of this tab on top. */

import { CanonicalState, editedCell } from "./canonical";
import { withoutAbsent } from "./decode";
import { KnownSheets } from "./known-sheets";
import { Overlay } from "./overlay";
import { addEdit, applyEntry, committedOf, NO_PENDING, Predictor, removeEdit, type PendingEdit } from "./pending";
import { movesCells } from "./space-map";
import { addedSheetOf, tabsAfter } from "./tabs";
import type { Cell, Extent, Range, SheetInfo } from "./types";
import type { Entry, Operation } from "./wire";

const NO_EXTENT: Extent = { rows: 0, columns: 0 };

export class View {
  readonly canonical = new CanonicalState();
  #pending = NO_PENDING;
  #overlay = new Overlay();
  #predictor = new Predictor([]);
  #tabs: readonly SheetInfo[] = [];
  /** The numbers of the sheets that this client adds, by the id of the edit. */
  readonly #addedSheets = new Map<number, number>();
  /** Whether the predictions must be made again. Many entries may arrive before the next read. */
  #isStale = false;

  get pending(): readonly PendingEdit[] {
    return this.#pending.edits;
  }

  /** Shows a further edit. Returns whether it moves rows or columns. */
  add(edit: PendingEdit): boolean {
    this.#update();
    this.#pending = addEdit(this.#pending, edit);
    return this.#show(edit);
  }

  remove(id: number): void {
    if (!this.#pending.edits.some((edit) => edit.id === id)) return;
    this.#pending = removeEdit(this.#pending, id);
    this.rebuild();
  }

  /** Adds an entry to what the predictions take into account. Call `rebuild` afterwards. */
  noteEntry(entry: Entry, isOwn: boolean): void {
    this.#pending = applyEntry(this.#pending, entry, isOwn);
    if (isOwn) for (const mutation of entry.mutations) this.#noteAdded(mutation.id, committedOf(mutation)[0]);
  }

  /** Replaces the pending edits, because they belong to a new client. */
  replace(edits: readonly PendingEdit[]): void {
    this.#pending = { edits, changes: [] };
    this.#addedSheets.clear();
    this.rebuild();
  }

  /** Predicts all pending edits from scratch, at the next read. */
  rebuild(): void {
    this.#isStale = true;
  }

  #update(): Overlay {
    if (!this.#isStale) return this.#overlay;
    this.#isStale = false;
    this.#overlay = new Overlay();
    this.#tabs = this.canonical.sheets;
    // The list of sheets may be newer than the entries, so that it may have the sheet of a pending edit.
    const known = new KnownSheets(this.#tabs.map(({ sheet }) => sheet), () => false);
    this.#predictor = new Predictor(this.#pending.changes, known);
    for (const edit of this.#pending.edits) this.#show(edit);
    return this.#overlay;
  }

  #show(edit: PendingEdit): boolean {
    const { operations } = this.#predictor.predict(edit);
    this.#noteAdded(edit.id, operations[0]);
    for (const operation of operations) {
      this.#tabs = tabsAfter(this.#tabs, operation);
      const info = "sheet" in operation ? this.#info(operation.sheet) : undefined;
      // An edit of a deleted sheet has no effect.
      if (info !== undefined) this.#overlay.apply(operation, info.extent);
    }
    return operations.some(movesCells);
  }

  #noteAdded(id: number, operation: Operation | undefined): void {
    const added = addedSheetOf(operation);
    if (added !== undefined) this.#addedSheets.set(id, added);
  }

  #info(sheet: number): SheetInfo | undefined {
    return this.#tabs.find((info) => info.sheet === sheet);
  }

  get sheets(): SheetInfo[] {
    this.#update();
    return this.#tabs.map((info) => ({ ...info, extent: this.extent(info.sheet) }));
  }

  /** Returns the id of the edit that added a sheet, which stays when the sheet gets another number. */
  additionOf(sheet: number): number | undefined {
    this.#update();
    return [...this.#addedSheets].find(([, number]) => number === sheet)?.[0];
  }

  sheetAddedBy(id: number): number | undefined {
    this.#update();
    return this.#addedSheets.get(id);
  }

  extent(sheet: number): Extent {
    return this.#update().extent(sheet) ?? this.canonical.info(sheet)?.extent ?? NO_EXTENT;
  }

  /** Returns where cells of the server are displayed. */
  shownRanges(sheet: number, range: Range): Range[] {
    return this.#update().shown(sheet, range);
  }

  /** Returns the server's row and column of a displayed cell, or undefined if it is inserted. */
  source(sheet: number, row: number, column: number) {
    return this.#update().source(sheet, row, column);
  }

  axisMaps(sheet: number) {
    return this.#update().axisMaps(sheet);
  }

  cell(sheet: number, row: number, column: number): Cell | undefined {
    const overlay = this.#update();
    const source = overlay.source(sheet, row, column);
    const stored = source && this.canonical.cache.get(sheet, source.row, source.column);
    const pending = overlay.cell(sheet, row, column);
    if (pending === undefined) return stored && { ...stored, row, column };
    const { hasContent, value, formula, format } = pending;
    const content = hasContent ? withoutAbsent({ value, formula }) : {};
    const edited = editedCell(stored, { row, column, ...content, ...withoutAbsent({ format }) });
    // A cleared cell is returned too, so that it can be marked as pending.
    return { ...(edited ?? { value: null, text: "" }), row, column, pending: true };
  }

  isLoaded(sheet: number, row: number, column: number): boolean {
    const source = this.#update().source(sheet, row, column);
    if (source === undefined) return true;
    const info = this.canonical.info(sheet);
    if (info === undefined) return this.#info(sheet) !== undefined;
    const isOutside = source.row >= info.extent.rows || source.column >= info.extent.columns;
    return isOutside || this.canonical.cache.isLoaded(sheet, source.row, source.column);
  }
}
