import type { Range, SheetSource } from "../data/types";
import { Axis } from "./axis";
import { allowedWidth, keptColumns, type ColumnWidthStore } from "./column-widths";
import { COLUMN_WIDTH, MIN_SHOWN_COLUMNS, MIN_SHOWN_ROWS, ROW_HEIGHT } from "./limits";
import { navigate, type Move, type NavigationContext } from "./navigation";
import { scroll, SCROLL_START, type ScrollAction, type ScrollContext, type ScrollPosition } from "./scroll";
import { advance, contains, currentRange, growWhole, isSingleCell, selectCell, selectRange, type GridSize, type Selection } from "./selection";
import { shownSize, visibleRange } from "./view";

interface SheetState {
  columns: Axis;
  position: ScrollPosition;
  selection: Selection;
  /** The grid never shrinks while a sheet is shown: the view would jump. */
  size: GridSize;
}

export interface ShownSheetUi {
  /** Draws a frame soon. */
  invalidate(): void;
  onSelectionChange(): void;
}

/** The sheet that is shown: the place in it, the selection, and the widths of its columns. Other sheets keep theirs. */
export class ShownSheet<Ui extends ShownSheetUi> {
  source: SheetSource | null = null;
  /** Rows at the start that do not scroll. A small window shows fewer. */
  frozenRows = 0;
  protected shownSheet = -1;
  #rows = new Axis(MIN_SHOWN_ROWS, ROW_HEIGHT);
  #widthStore: ColumnWidthStore | null = null;
  #sheet = this.#newState(-1);
  readonly #states = new Map<number, SheetState>();
  #bodySize = { width: 0, height: 0 };

  constructor(protected readonly ui: Ui) {}

  get context(): ScrollContext {
    const { width, height } = this.#bodySize;
    // Frozen rows that fill the window would leave no place to scroll.
    const frozenRows = Math.min(this.frozenRows, Math.floor(height / 2 / ROW_HEIGHT));
    return { rows: this.#rows, columns: this.#sheet.columns, width, height: height - frozenRows * ROW_HEIGHT, frozenRows };
  }

  get position(): ScrollPosition {
    return this.#sheet.position;
  }

  get selection(): Selection {
    return this.#sheet.selection;
  }

  get size(): GridSize {
    return this.#sheet.size;
  }

  /** Whether whole rows or columns are selected. */
  get whole(): "rows" | "columns" | null {
    const { ranges } = this.selection;
    if (ranges.every((range) => range.columnCount >= this.size.columns)) return "rows";
    return ranges.every((range) => range.rowCount >= this.size.rows) ? "columns" : null;
  }

  get isEverythingSelected(): boolean {
    const { rowCount, columnCount } = currentRange(this.selection);
    return rowCount >= this.size.rows && columnCount >= this.size.columns;
  }

  protected get columns(): Axis {
    return this.#sheet.columns;
  }

  protected set columns(columns: Axis) {
    this.#sheet.columns = columns;
    this.#widthStore?.save(this.shownSheet, columns.ownSizes());
  }

  /** Keeps the widths of columns, which the grid itself does not store. */
  setWidthStore(store: ColumnWidthStore | null): void {
    this.#widthStore = store;
    this.#states.clear();
    this.#sheet = { ...this.#sheet, columns: keptColumns(store, this.shownSheet) };
    this.grow();
    this.scroll({ kind: "resized" });
  }

  /** Forgets the place and selection of each sheet. */
  protected forget(): void {
    this.#states.clear();
    this.shownSheet = -1;
  }

  /** Restores the state of a sheet, or starts at its first cell. */
  protected switchTo(sheet: number): void {
    if (this.shownSheet >= 0) this.#states.set(this.shownSheet, this.#sheet);
    this.#sheet = this.#states.get(sheet) ?? this.#newState(sheet);
    this.shownSheet = sheet;
  }

  setBodySize(width: number, height: number): void {
    if (width === this.#bodySize.width && height === this.#bodySize.height) return;
    const wasVisible = this.#isActiveVisible();
    this.#bodySize = { width: Math.max(0, width), height: Math.max(0, height) };
    this.scroll({ kind: "resized" });
    // A touch keyboard or a longer status line must not cover the cell that the user works on.
    if (wasVisible) this.scroll({ kind: "reveal", ...this.selection.active });
  }

  #isActiveVisible(): boolean {
    const { row, column } = this.selection.active;
    const visible = visibleRange(this.position, this.context);
    return contains(visible, row < this.frozenRows ? visible.firstRow : row, column);
  }

  redraw(): void {
    this.ui.invalidate();
  }

  scroll(action: ScrollAction): void {
    this.#sheet.position = scroll(this.#sheet.position, action, this.context);
    this.ui.invalidate();
  }

  /** Selects and shows the cell that moved last. */
  select(selection: Selection, isRevealing = true): void {
    this.keep(selection);
    if (isRevealing) this.reveal();
    this.ui.onSelectionChange();
    this.ui.invalidate();
  }

  reveal(): void {
    const { active, head } = this.#sheet.selection;
    const isWithin = isSingleCell(this.#sheet.selection);
    const range = currentRange(this.#sheet.selection);
    // Whole rows and columns end far away: the view stays at the active cell there.
    const row = isWithin || range.rowCount >= this.size.rows ? active.row : head.row;
    const column = isWithin || range.columnCount >= this.size.columns ? active.column : head.column;
    this.scroll({ kind: "reveal", row, column });
  }

  navigate(move: Move, isExtending: boolean): void {
    if (this.source) this.select(navigate(this.selection, move, isExtending, this.navigationContext(this.source)));
  }

  navigationContext(source: SheetSource): NavigationContext {
    const page = {
      rows: Math.max(1, Math.floor(this.context.height / ROW_HEIGHT) - 1),
      columns: Math.max(1, Math.floor(this.#bodySize.width / COLUMN_WIDTH) - 1),
    };
    const hasValue = (row: number, column: number): boolean | null => {
      const cell = source.cellAt(row, column);
      if (cell) return cell.value !== null;
      return source.isLoaded(row, column) ? false : null;
    };
    return { size: this.size, extent: source.extent, page, hasValue };
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

  setColumnWidth(column: number, width: number): void {
    this.#setColumnWidths([[column, width]]);
  }

  #setColumnWidths(widths: readonly (readonly [column: number, width: number])[]): void {
    this.columns = this.columns.withSizes(widths.map(([column, width]) => [column, allowedWidth(width)]));
    this.scroll({ kind: "resized" });
  }

  /** Resizes the selected columns; at most 1,000, so that selecting everything does not store each column's width. */
  resizeColumns(by: number): void {
    const range = currentRange(this.selection);
    const columns = Array.from({ length: Math.min(range.columnCount, 1_000) }, (_, index) => range.firstColumn + index);
    this.#setColumnWidths(columns.map((column) => [column, this.columns.sizeOf(column) + by]));
  }

  /** Selects cells without showing them. */
  protected keep(selection: Selection): void {
    this.#sheet.selection = selection;
    this.grow();
  }

  /** Adds rows and columns after the last cell and after the active cell. */
  protected grow(): void {
    const { active, head } = this.selection;
    const shown = shownSize(this.source?.extent ?? { rows: 0, columns: 0 }, this.whole ? active : head);
    const size = { rows: Math.max(shown.rows, this.size.rows), columns: Math.max(shown.columns, this.size.columns) };
    this.#sheet.selection = growWhole(this.selection, this.size, size);
    this.#sheet.size = size;
    this.#rows = this.#rows.withCount(size.rows);
    this.#sheet.columns = this.#sheet.columns.withCount(size.columns);
  }

  #newState(sheet: number): SheetState {
    return {
      columns: keptColumns(this.#widthStore, sheet),
      position: SCROLL_START,
      selection: selectCell(0, 0),
      size: { rows: MIN_SHOWN_ROWS, columns: MIN_SHOWN_COLUMNS },
    };
  }
}
