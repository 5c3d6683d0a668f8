/** The loaded blocks of all sheets at one position of the log. The oldest are dropped. */

import type { AxisMap } from "./axis-map";
import { Block, blockKey, placeOf, type BlockPlace, type StoredCell } from "./block";
import { BLOCK_COLUMNS, BLOCK_ROWS, MAX_CACHED_CELLS } from "./limits";
import { laterText } from "./text";
import type { Span } from "./wire";

export type Axis = "rows" | "columns";

export class BlockCache {
  /** The least recently used block is first. */
  readonly #blocks = new Map<string, Block>();

  constructor(private readonly maxCells: number = MAX_CACHED_CELLS) {}

  get(sheet: number, row: number, column: number): StoredCell | undefined {
    return this.#blockAt(sheet, row, column)?.get(row, column);
  }

  isLoaded(sheet: number, row: number, column: number): boolean {
    return this.#blockAt(sheet, row, column)?.isLoaded(row, column) ?? false;
  }

  block(place: BlockPlace): Block | undefined {
    return this.#blocks.get(blockKey(place));
  }

  /** The blocks, the most recently used one first. */
  get blocks(): Block[] {
    return [...this.#blocks.values()].reverse();
  }

  get hasResults(): boolean {
    return [...this.#blocks.values()].some((block) => block.hasResults);
  }

  get weight(): number {
    let weight = 0;
    for (const block of this.#blocks.values()) weight += block.weight;
    return weight;
  }

  /** Marks a block as used, so that others are dropped first. */
  touch(place: BlockPlace): void {
    const key = blockKey(place);
    const block = this.#blocks.get(key);
    if (block === undefined) return;
    this.#blocks.delete(key);
    this.#blocks.set(key, block);
  }

  /** Adds a loaded block, and drops the least recently used ones beyond the limit. */
  put(block: Block): void {
    const key = blockKey(block.place);
    this.#blocks.delete(key);
    this.#blocks.set(key, block);
    let weight = this.weight;
    for (const [oldestKey, oldest] of this.#blocks) {
      if (weight <= this.maxCells || oldestKey === key) break;
      this.#blocks.delete(oldestKey);
      weight -= oldest.weight;
    }
  }

  /** Changes a cell if it is loaded. */
  update(sheet: number, row: number, column: number, change: (cell?: StoredCell) => StoredCell | undefined) {
    const block = this.#blockAt(sheet, row, column);
    if (block?.isLoaded(row, column) === true) block.set(row, column, change(block.get(row, column)));
  }

  /** Changes all loaded cells in the ranges. */
  updateRanges(
    sheet: number,
    rows: readonly Span[],
    columns: readonly Span[],
    change: (cell?: StoredCell) => StoredCell | undefined,
  ): void {
    const contains = (spans: readonly Span[], index: number) =>
      spans.some(({ first, count }) => first <= index && index < first + count);
    for (const block of this.#blocksOf(sheet)) {
      block.forEachLoaded((row, column, cell) => {
        if (cell !== undefined && contains(rows, row) && contains(columns, column)) {
          block.set(row, column, change(cell));
        }
      });
    }
  }

  /** Displays the cells again whose formats need the code that was loaded. */
  updateTexts(): void {
    for (const block of this.#blocks.values()) {
      block.forEachLoaded((row, column, cell) => {
        const text = cell && laterText(cell.value, cell.format);
        if (cell !== undefined && text !== undefined) block.set(row, column, { ...cell, text });
      });
    }
  }

  /** Moves the cells as an insert or delete of rows or columns does. */
  move(sheet: number, axis: Axis, map: AxisMap): void {
    const moved = this.#blocksOf(sheet).filter((block) => !isUnmoved(block, axis, map));
    for (const block of moved) this.#blocks.delete(blockKey(block.place));
    const targets = new Set<Block>();
    for (const block of moved) this.#moveCells(block, axis, map, targets);
    for (const block of targets) markInsertedBlank(block, axis, map);
    for (const block of targets) this.put(block);
  }

  #moveCells(block: Block, axis: Axis, map: AxisMap, targets: Set<Block>): void {
    block.forEachLoaded((row, column, cell) => {
      const newRow = axis === "rows" ? map.get(row) : row;
      const newColumn = axis === "columns" ? map.get(column) : column;
      if (newRow === undefined || newColumn === undefined) return;
      const place = placeOf(block.place.sheet, newRow, newColumn);
      const target = this.block(place) ?? new Block(place);
      this.#blocks.set(blockKey(place), target);
      target.set(newRow, newColumn, cell);
      target.markLoaded(newRow, newColumn);
      target.isOutdated ||= block.isOutdated;
      targets.add(target);
    });
  }

  /** Marks all blocks, because an edit may have changed them in a way that the cache cannot compute. */
  markOutdated(): void {
    for (const block of this.#blocks.values()) block.isOutdated = true;
  }

  clear(): void {
    this.#blocks.clear();
  }

  #blocksOf(sheet: number): Block[] {
    return [...this.#blocks.values()].filter((block) => block.place.sheet === sheet);
  }

  #blockAt(sheet: number, row: number, column: number): Block | undefined {
    return this.block(placeOf(sheet, row, column));
  }
}

function lineSpan(block: Block, axis: Axis): Span {
  return axis === "rows"
    ? { first: block.firstRow, count: BLOCK_ROWS }
    : { first: block.firstColumn, count: BLOCK_COLUMNS };
}

function isUnmoved(block: Block, axis: Axis, map: AxisMap): boolean {
  const { first, count } = lineSpan(block, axis);
  const run = map.runs.find(({ src, len }) => src <= first && first + count <= src + len);
  return run !== undefined && run.src === run.dst;
}

/** Inserted rows and columns are blank, so that they need not be loaded. */
function markInsertedBlank(block: Block, axis: Axis, map: AxisMap): void {
  const { first, count } = lineSpan(block, axis);
  for (let line = first; line < Math.min(first + count, map.limit); line += 1) {
    // What moved in from beyond the end of the sheet by a delete is also blank.
    if (map.source(line) !== undefined) continue;
    if (axis === "rows") block.markRowLoaded(line);
    else for (let row = 0; row < BLOCK_ROWS; row += 1) block.markLoaded(block.firstRow + row, line);
  }
}
