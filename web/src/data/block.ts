/** A block: the cells of 128 rows and 32 columns, and which of them are loaded. */

import { BLOCK_COLUMNS, BLOCK_OVERHEAD_CELLS, BLOCK_ROWS } from "./limits";
import type { Cell } from "./types";

/** A cell without its place, so that it can move without a copy. */
export type StoredCell = Omit<Cell, "row" | "column" | "pending">;

export interface BlockPlace {
  readonly sheet: number;
  readonly rowBlock: number;
  readonly columnBlock: number;
}

const ALL_COLUMNS = -1;

export function blockKey({ sheet, rowBlock, columnBlock }: BlockPlace): string {
  return `${sheet}:${rowBlock}:${columnBlock}`;
}

export function placeOf(sheet: number, row: number, column: number): BlockPlace {
  return { sheet, rowBlock: Math.floor(row / BLOCK_ROWS), columnBlock: Math.floor(column / BLOCK_COLUMNS) };
}

export class Block {
  readonly #cells = new Map<number, StoredCell>();
  /** The loaded columns of each row, one bit per column. */
  readonly #loaded = new Int32Array(BLOCK_ROWS);
  /** The contents may have changed. They are shown until they are loaded again. */
  isOutdated = false;
  /** Whether results of formulas were among the cells, which any edit may change. */
  hasResults = false;

  constructor(readonly place: BlockPlace) {}

  get firstRow(): number {
    return this.place.rowBlock * BLOCK_ROWS;
  }

  get firstColumn(): number {
    return this.place.columnBlock * BLOCK_COLUMNS;
  }

  /** What the block counts toward the limit of the cache. */
  get weight(): number {
    return this.#cells.size + BLOCK_OVERHEAD_CELLS;
  }

  isComplete(): boolean {
    return this.#loaded.every((columns) => columns === ALL_COLUMNS);
  }

  get(row: number, column: number): StoredCell | undefined {
    return this.#cells.get(this.#index(row, column));
  }

  set(row: number, column: number, cell: StoredCell | undefined): void {
    if (cell === undefined) this.#cells.delete(this.#index(row, column));
    else this.#cells.set(this.#index(row, column), cell);
    if (cell?.formula !== undefined || cell?.filledBy !== undefined) this.hasResults = true;
  }

  isLoaded(row: number, column: number): boolean {
    return ((this.#loaded[row - this.firstRow] ?? 0) & (1 << (column - this.firstColumn))) !== 0;
  }

  markLoaded(row: number, column: number): void {
    const local = row - this.firstRow;
    this.#loaded[local] = (this.#loaded[local] ?? 0) | (1 << (column - this.firstColumn));
  }

  markRowLoaded(row: number): void {
    this.#loaded[row - this.firstRow] = ALL_COLUMNS;
  }

  markAllLoaded(): void {
    this.#loaded.fill(ALL_COLUMNS);
  }

  /** Calls `visit` for each loaded cell, also for blank ones. */
  forEachLoaded(visit: (row: number, column: number, cell: StoredCell | undefined) => void): void {
    for (let row = this.firstRow; row < this.firstRow + BLOCK_ROWS; row += 1) {
      if (this.#loaded[row - this.firstRow] === 0) continue;
      for (let column = this.firstColumn; column < this.firstColumn + BLOCK_COLUMNS; column += 1) {
        if (this.isLoaded(row, column)) visit(row, column, this.get(row, column));
      }
    }
  }

  /** The cells by their number in the block, and the loaded columns of each row. */
  get contents(): { cells: ReadonlyMap<number, StoredCell>; loaded: Int32Array } {
    return { cells: this.#cells, loaded: this.#loaded };
  }

  #index(row: number, column: number): number {
    return (row - this.firstRow) * BLOCK_COLUMNS + column - this.firstColumn;
  }
}
