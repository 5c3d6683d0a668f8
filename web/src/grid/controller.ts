import type { CellInput, LayoutShift, Range, SheetChange, SheetSource } from "../data/types";
import { cellName } from "./address";
import { Axis } from "./axis";
import { copyInput, editText } from "./cell-text";
import { clearInputs } from "./clear";
import { edit, READY, type EditEvent, type EditState } from "./edit";
import { COLUMN_WIDTH, MAX_COLUMN_WIDTH, MAX_COLUMNS, MAX_PASTED_CELLS, MIN_COLUMN_WIDTH, MIN_SHOWN_COLUMNS, MIN_SHOWN_ROWS, ROW_HEIGHT } from "./limits";
import type { Parts } from "./later";
import { Marks } from "./marks";
import { navigate, type Direction, type Move } from "./navigation";
import { scroll, SCROLL_START, type ScrollAction, type ScrollContext, type ScrollPosition } from "./scroll";
import { advance, currentRange, isSingleCell, lastColumn, growWhole, selectCell, selectRange, type GridSize, type Selection } from "./selection";
import { scrollOfShift, shiftCell, shiftSelection, spansOf } from "./shift";
import { shownSize, visibleRange } from "./view";

/** What the controller needs of the element. */
export interface ControllerUi {
  /** Draws a frame soon. */
  invalidate(): void;
  /** Shows a message, and a button if there is an action. */
  notify(message: string, action?: NoticeAction): void;
  editorText(): string;
  setEditorText(text: string): void;
  onSelectionChange(): void;
  /** Calls the function once the parts are loaded that the first cells do not need. */
  useParts(run: (parts: Parts) => void): void;
}

export interface NoticeAction {
  label: string;
  run(): void;
}

/** Keeps the widths of columns other than the default, such as in `localStorage`. */
export interface ColumnWidthStore {
  load(sheet: number): Iterable<readonly [column: number, width: number]>;
  save(sheet: number, widths: readonly (readonly [column: number, width: number])[]): void;
}

interface SheetState {
  columns: Axis;
  position: ScrollPosition;
  selection: Selection;
  /** The grid never shrinks while a sheet is shown: the view would jump. */
  size: GridSize;
}

/** The state of the grid. Every change goes through a pure function and ends in one frame for all panes. */
export class Controller {
  source: SheetSource | null = null;
  editState: EditState = READY;
  readonly marks = new Marks();
  /** Rows at the start that do not scroll. A small window shows fewer. */
  frozenRows = 0;
  private widthStore: ColumnWidthStore | null = null;
  private rows = new Axis(MIN_SHOWN_ROWS, ROW_HEIGHT);
  private sheet = this.newSheetState(-1);
  private readonly sheetStates = new Map<number, SheetState>();
  private shownSheet = -1;
  private unsubscribe: (() => void) | null = null;
  private bodySize = { width: 0, height: 0 };
  /** Own insertions and deletions that the source has not shown yet. */
  private ownShifts: LayoutShift[] = [];
  private refusedFor: string | null = null;
  /** Changes when cells may be elsewhere. */
  layoutVersion = 0;
  dataVersion = 0;
  /** Changes when the source was asked for other cells than those in view. */
  loadVersion = 0;

  constructor(private readonly ui: ControllerUi) {}

  get context(): ScrollContext {
    const { width, height } = this.bodySize;
    // Frozen rows that fill the window would leave no place to scroll.
    const frozenRows = Math.min(this.frozenRows, Math.floor(height / 2 / ROW_HEIGHT));
    return { rows: this.rows, columns: this.sheet.columns, width, height: height - frozenRows * ROW_HEIGHT, frozenRows };
  }

  get position(): ScrollPosition {
    return this.sheet.position;
  }

  get selection(): Selection {
    return this.sheet.selection;
  }

  get size(): GridSize {
    return this.sheet.size;
  }

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
    if (reason && reason !== this.refusedFor) this.ui.notify(reason);
    this.refusedFor = reason;
    return reason !== null;
  }

  /** Whether whole rows or columns are selected. */
  get whole(): "rows" | "columns" | null {
    const { ranges } = this.selection;
    if (ranges.every((range) => range.columnCount >= this.size.columns)) return "rows";
    return ranges.every((range) => range.rowCount >= this.size.rows) ? "columns" : null;
  }

  /** Keeps the widths of columns, which the grid itself does not store. */
  setWidthStore(store: ColumnWidthStore | null): void {
    this.widthStore = store;
    this.sheetStates.clear();
    this.sheet = { ...this.sheet, columns: this.newSheetState(this.shownSheet).columns };
    this.growGrid();
    this.scroll({ kind: "resized" });
  }

  setSource(source: SheetSource | null): void {
    this.unsubscribe?.();
    this.source?.announce?.(null);
    this.source = source;
    this.dataVersion++;
    this.sheetStates.clear();
    this.shownSheet = -1;
    this.unsubscribe = source ? source.subscribe((change) => this.handleChange(change)) : null;
    this.showSheet();
  }

  setBodySize(width: number, height: number): void {
    if (width === this.bodySize.width && height === this.bodySize.height) return;
    const wasVisible = this.isActiveVisible();
    this.bodySize = { width: Math.max(0, width), height: Math.max(0, height) };
    this.scroll({ kind: "resized" });
    // A touch keyboard or a longer status line must not cover the cell that the user works on.
    if (wasVisible) this.scroll({ kind: "reveal", ...this.selection.active });
  }

  private isActiveVisible(): boolean {
    const { row, column } = this.selection.active;
    const { firstRow, rowCount, firstColumn, columnCount } = visibleRange(this.position, this.context);
    const isRowVisible = row < this.frozenRows || (row >= firstRow && row < firstRow + rowCount);
    return isRowVisible && column >= firstColumn && column < firstColumn + columnCount;
  }

  redraw(): void {
    this.ui.invalidate();
  }

  scroll(action: ScrollAction): void {
    this.sheet.position = scroll(this.sheet.position, action, this.context);
    this.ui.invalidate();
  }

  /** Selects and shows the cell that moved last. */
  select(selection: Selection, isRevealing = true): void {
    this.sheet.selection = selection;
    this.growGrid();
    if (isRevealing) this.reveal();
    this.ui.onSelectionChange();
    this.ui.invalidate();
  }

  reveal(): void {
    const { active, head } = this.sheet.selection;
    const isWithin = isSingleCell(this.sheet.selection);
    const range = currentRange(this.sheet.selection);
    // Whole rows and columns end far away: the view stays at the active cell there.
    const row = isWithin || range.rowCount >= this.size.rows ? active.row : head.row;
    const column = isWithin || range.columnCount >= this.size.columns ? active.column : head.column;
    this.scroll({ kind: "reveal", row, column });
  }

  navigate(move: Move, isExtending: boolean): void {
    const { source } = this;
    if (!source) return;
    const page = {
      rows: Math.max(1, Math.floor(this.context.height / ROW_HEIGHT) - 1),
      columns: Math.max(1, Math.floor(this.bodySize.width / COLUMN_WIDTH) - 1),
    };
    const hasValue = (row: number, column: number) => {
      const cell = source.cellAt(row, column);
      if (cell) return cell.value !== null;
      return source.isLoaded(row, column) ? false : null;
    };
    const context = { size: this.size, extent: source.extent, page, hasValue };
    this.select(navigate(this.selection, move, isExtending, context));
  }

  advance(axis: "rows" | "columns", step: 1 | -1): void {
    this.select(advance(this.selection, axis, step, this.size));
    if (!isSingleCell(this.selection)) this.scroll({ kind: "reveal", ...this.selection.active });
  }

  /** Goes to a range and shows its first cell at the top, or does not move if it is visible. */
  goTo(range: Range): void {
    this.select(selectRange(range), false);
    this.scroll({ kind: "reveal", row: range.firstRow, column: range.firstColumn });
  }

  /** Applies an event of the editor, stores its edit, and moves. */
  edit(event: EditEvent): void {
    if (event.kind === "type" || event.kind === "open") this.scroll({ kind: "reveal", ...event.cell });
    const step = edit(this.editState, event);
    // A text that cannot be stored stays open, so that the user can copy it.
    if (step.input && this.readOnlyReason) return this.ui.notify(this.readOnlyReason);
    this.editState = step.state;
    if (step.text !== undefined) this.ui.setEditorText(step.text);
    if (step.input) this.store([step.input]);
    if (step.advance) this.advanceTowards(step.advance);
    this.ui.invalidate();
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
    this.ui.invalidate();
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
    this.shift(axis, 1);
  }

  delete(axis: "rows" | "columns"): void {
    this.shift(axis, -1);
  }

  private shift(axis: "rows" | "columns", sign: 1 | -1): void {
    const { source } = this;
    if (!source || !this.canEdit) return;
    for (const { at, count } of spansOf(this.selection.ranges, axis)) {
      this.ownShifts.push({ axis, at, count: sign * count });
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

  setColumnWidth(column: number, width: number): void {
    const rounded = Math.round(Math.max(MIN_COLUMN_WIDTH, Math.min(width, MAX_COLUMN_WIDTH)));
    this.sheet.columns = this.sheet.columns.withSize(column, rounded);
    this.saveWidths();
    this.scroll({ kind: "resized" });
  }

  /** Resizes the selected columns; at most 1,000, so that selecting everything does not store each column's width. */
  resizeColumns(by: number): void {
    const range = currentRange(this.selection);
    const last = Math.min(lastColumn(range), range.firstColumn + 999);
    for (let column = range.firstColumn; column <= last; column++) {
      this.setColumnWidth(column, this.sheet.columns.sizeOf(column) + by);
    }
  }

  private advanceTowards(direction: Direction): void {
    const axis = direction === "up" || direction === "down" ? "rows" : "columns";
    this.advance(axis, direction === "down" || direction === "right" ? 1 : -1);
  }

  private handleChange(change: SheetChange): void {
    if (change.kind !== "status") this.dataVersion++;
    // A source reports another sheet by any change.
    if (change.kind === "sheets" || this.source?.sheet !== this.shownSheet) this.showSheet();
    else if (change.kind === "layout") this.handleLayout(change);
    if (change.kind !== "status") this.growGrid();
    this.ui.invalidate();
  }

  /** A source that does not report which rows moved shows own insertions with the next change. */
  private handleLayout({ axis, at, count }: Partial<LayoutShift>): void {
    this.layoutVersion++;
    const own = this.ownShifts;
    this.ownShifts = [];
    if (axis === undefined || at === undefined || !count) return own.forEach((shift) => this.applyShift(shift, true));
    const isOwn = own[0]?.axis === axis && own[0].at === at && own[0].count === count;
    this.ownShifts = isOwn ? own.slice(1) : own;
    this.applyShift({ axis, at, count }, isOwn);
  }

  private applyShift(shift: LayoutShift, isOwn: boolean): void {
    const { axis, at, count } = shift;
    const { columns } = this.sheet;
    if (axis === "columns") {
      this.sheet.columns = count > 0 ? columns.withInserted(at, count) : columns.withDeleted(at, -count);
      this.saveWidths();
    }
    this.marks.shift(this.shownSheet, shift);
    this.shiftEdit(shift);
    // The user's own new rows stay selected; rows of others move the selection with its cells.
    if (!isOwn) this.sheet.selection = shiftSelection(this.selection, shift, this.size);
    this.growGrid();
    // Rows inserted exactly at the top row are shown: only rows above the view move it.
    const first = axis === "rows" ? this.position.row : this.position.column;
    if (count < 0 || at !== first) this.scroll(scrollOfShift(shift));
    this.ui.onSelectionChange();
  }

  /** An open text stays with its cell. */
  private shiftEdit(shift: LayoutShift): void {
    const { editState } = this;
    if (editState.mode === "ready") return;
    const cell = shiftCell(editState.cell, shift);
    if (cell) this.editState = { ...editState, cell };
    else {
      this.ui.notify(`${cellName(editState.cell.row, editState.cell.column)} was deleted while you edited it. Your text was: ${this.ui.editorText()}`);
      this.edit({ kind: "cancel" });
    }
  }

  /** Restores the state of the source's sheet, or starts at its first cell. */
  private showSheet(): void {
    const sheet = this.source?.sheet ?? -1;
    if (sheet !== this.shownSheet) {
      if (this.editState.mode !== "ready") this.edit({ kind: "cancel" });
      if (this.shownSheet >= 0) this.sheetStates.set(this.shownSheet, this.sheet);
      this.sheet = this.sheetStates.get(sheet) ?? this.newSheetState(sheet);
      this.shownSheet = sheet;
      this.ownShifts = [];
      this.layoutVersion++;
    }
    this.growGrid();
    this.scroll({ kind: "resized" });
    this.ui.onSelectionChange();
  }

  private growGrid(): void {
    const { active, head } = this.selection;
    const shown = shownSize(this.source?.extent ?? { rows: 0, columns: 0 }, this.whole ? active : head);
    const size = { rows: Math.max(shown.rows, this.size.rows), columns: Math.max(shown.columns, this.size.columns) };
    this.sheet.selection = growWhole(this.selection, this.size, size);
    this.sheet.size = size;
    this.rows = this.rows.withCount(size.rows);
    this.sheet.columns = this.sheet.columns.withCount(size.columns);
  }

  private saveWidths(): void {
    this.widthStore?.save(this.shownSheet, this.sheet.columns.ownSizes());
  }

  private newSheetState(sheet: number): SheetState {
    const widths = new Map<number, number>();
    for (const [column, width] of this.widthStore?.load(sheet) ?? []) {
      // What was stored may be damaged.
      if (column >= 0 && column < MAX_COLUMNS && width >= MIN_COLUMN_WIDTH && width <= MAX_COLUMN_WIDTH) widths.set(Math.floor(column), width);
    }
    return {
      columns: new Axis(MIN_SHOWN_COLUMNS, COLUMN_WIDTH, widths),
      position: SCROLL_START,
      selection: selectCell(0, 0),
      size: { rows: MIN_SHOWN_ROWS, columns: MIN_SHOWN_COLUMNS },
    };
  }
}
