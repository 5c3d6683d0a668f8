/** Merges the levels of a sheet for a window: newer cells hide older ones. See `docs/design/snapshots.md`. */

import { FormatError } from "./format-error";
import type { RangeFormat } from "./index-object";
import type { Moves, Region } from "./index-parts";
import { TileFinder, type LoadedObjects, type MissingObject, type PlacedTile } from "./level-tiles";
import { linesAmong, lineOf, olderLines, type Lines } from "./lines";
import type { Level, Root } from "./root";
import { readTile, type RowItems, type Tile, type TileColumn } from "./tile";
import type { TileValue } from "./values";

/** A window has at most this many cells, blank ones included. */
export const MAX_WINDOW_CELLS = 2 ** 20;

export interface WindowRange {
  firstRow: number;
  rowCount: number;
  firstColumn: number;
  columnCount: number;
}

/** A formula as it is stored: in the coordinates of the level with this index. */
export interface StoredFormula {
  text: string;
  isTemplate: boolean;
  level: number;
  row: number;
  column: number;
}

export interface WindowCell {
  row: number;
  column: number;
  value: TileValue;
  formula?: StoredFormula;
  /** The cell's own format, without those of ranges. */
  format?: string;
}

export type WindowOutcome =
  | { kind: "cells"; cells: WindowCell[] }
  /** Load these objects, and try again. More may be needed then. */
  | { kind: "missing"; missing: MissingObject[] };

/** Reads the cells of a window, by row and column. `levels` are given oldest first. */
export function windowOf(levels: readonly Level[], sheet: number, range: WindowRange, objects: LoadedObjects): WindowOutcome {
  const finder = new TileFinder(objects);
  const window = new Window(range);
  let rows: Lines[] = [{ src: range.firstRow, dst: range.firstRow, len: range.rowCount }];
  let columns: Lines[] = [{ src: range.firstColumn, dst: range.firstColumn, len: range.columnCount }];
  for (let index = levels.length - 1; index >= 0; index -= 1) {
    const level = levels[index]?.sheets.find((found) => found.sheet === sheet);
    // A sheet that a level does not list has not changed in it.
    if (level === undefined) continue;
    for (const placed of finder.tiles(level.stripes, rows, columns)) {
      const tile = placed.ref.stored.kind === "inline" ? readTile(placed.ref.stored.bytes) : finder.tile(placed.ref);
      if (tile !== undefined) window.addTile(tile, placed, rows, columns, index);
    }
    const moves = index === 0 ? undefined : finder.moves(level);
    if (moves === undefined) break;
    window.hide(moves, rows, columns);
    [rows, columns] = [olderLines(rows, moves.rows), olderLines(columns, moves.columns)];
    if (rows.length === 0 || columns.length === 0) break;
  }
  if (finder.missing.size > 0) return { kind: "missing", missing: [...finder.missing.values()] };
  return { kind: "cells", cells: window.cells() };
}

/** Returns the range formats of a sheet, oldest first, or the chunks that must be loaded before. */
export function formatsOf(root: Root, sheet: number, objects: LoadedObjects): RangeFormat[] | MissingObject[] | undefined {
  const finder = new TileFinder(objects);
  const found = root.sheets.find((other) => other.sheet === sheet);
  return found === undefined ? undefined : (finder.formats(found) ?? [...finder.missing.values()]);
}

const [HAS_VALUE, HAS_FORMAT] = [1, 2] as const;

class Window {
  /** What newer levels say about each cell: whether older values and formats are hidden. */
  readonly #known: Uint8Array;
  readonly #cells = new Map<number, WindowCell>();

  constructor(private readonly range: WindowRange) {
    const size = range.rowCount * range.columnCount;
    if (size > MAX_WINDOW_CELLS) throw new FormatError("limit", `a window of ${size} cells is too large`);
    this.#known = new Uint8Array(size);
  }

  cells(): WindowCell[] {
    return [...this.#cells].sort(([left], [right]) => left - right).map(([, cell]) => cell);
  }

  addTile(tile: Tile, placed: PlacedTile, rows: readonly Lines[], columns: readonly Lines[], level: number): void {
    for (const column of tile.columns) {
      const source = placed.firstColumn + column.column;
      const target = source < placed.endColumn ? lineOf(columns, source) : undefined;
      if (target === undefined) continue;
      this.#addValues(column, placed, rows, target, { level, column: source });
      forEachItem(column.formats, placed, rows, (row, format) => {
        const cell = this.#open(row, target, HAS_FORMAT);
        if (cell !== undefined) cell.format = format;
      });
    }
  }

  #addValues(tile: TileColumn, placed: PlacedTile, rows: readonly Lines[], column: number, at: { level: number; column: number }): void {
    forEachItem(tile.values, placed, rows, (row, value, source) => {
      const cell = this.#open(row, column, HAS_VALUE);
      if (cell === undefined) return;
      cell.value = value;
      const local = source - placed.firstRow;
      const [formula, template] = [itemAt(tile.formulas, local), itemAt(tile.templates, local)];
      const text = template ?? formula;
      if (text !== undefined) cell.formula = { text, isTemplate: template !== undefined, row: source, ...at };
    });
  }

  /** Returns the cell if no newer level has decided about its value or format. */
  #open(row: number, column: number, layer: number): WindowCell | undefined {
    const index = this.#indexOf(row, column);
    if (((this.#known[index] ?? 0) & layer) !== 0) return undefined;
    this.#known[index] = (this.#known[index] ?? 0) | layer;
    const cell = this.#cells.get(index) ?? { row, column, value: null };
    this.#cells.set(index, cell);
    return cell;
  }

  hide({ valueClears, formatClears }: Moves, rows: readonly Lines[], columns: readonly Lines[]): void {
    this.#hideRegions(valueClears, HAS_VALUE, rows, columns);
    this.#hideRegions(formatClears, HAS_FORMAT, rows, columns);
  }

  #hideRegions(regions: readonly Region[], layer: number, rows: readonly Lines[], columns: readonly Lines[]): void {
    for (const region of regions) {
      const [hiddenRows, hiddenColumns] = [linesAmong(rows, region.rows), linesAmong(columns, region.columns)];
      for (const { first, count } of hiddenRows) {
        for (let row = first; row < first + count; row += 1) {
          for (const span of hiddenColumns) this.#hideRow(row, span.first, span.count, layer);
        }
      }
    }
  }

  #hideRow(row: number, firstColumn: number, count: number, layer: number): void {
    const start = this.#indexOf(row, firstColumn);
    for (let index = start; index < start + count; index += 1) this.#known[index] = (this.#known[index] ?? 0) | layer;
  }

  #indexOf(row: number, column: number): number {
    return (row - this.range.firstRow) * this.range.columnCount + column - this.range.firstColumn;
  }
}

/** Calls `visit` for the items in rows of the window, with the row of the window and that of the level. */
function forEachItem<T>(
  { rows, items }: RowItems<T>,
  { firstRow, endRow }: PlacedTile,
  lines: readonly Lines[],
  visit: (row: number, item: T, source: number) => void,
): void {
  for (const { src, dst, len } of lines) {
    const end = Math.min(src + len, endRow);
    for (let index = lowerBound(rows, src - firstRow); index < rows.length; index += 1) {
      const source = firstRow + (rows[index] ?? 0);
      if (source >= end) break;
      visit(dst + source - src, items[index] as T, source);
    }
  }
}

function itemAt<T>({ rows, items }: RowItems<T>, row: number): T | undefined {
  const index = lowerBound(rows, row);
  return rows[index] === row ? items[index] : undefined;
}

/** Returns the index of the first row that is not before `row`. */
function lowerBound(rows: Uint32Array, row: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle] ?? 0) < row) low = middle + 1;
    else high = middle;
  }
  return low;
}
