/** Which blocks a view needs: the visible ones first, then those in the direction of scrolling. */

import { blockKey, type BlockPlace } from "./block";
import { boundsOf } from "./ranges";
import { BLOCK_COLUMNS, BLOCK_ROWS, MAX_COLUMNS, MAX_ROWS } from "./limits";
import type { Range } from "./types";

const MAX_VISIBLE_ROWS = 2_048;
const MAX_VISIBLE_COLUMNS = 512;

/** Returns the range inside the sheet, and not larger than any screen. */
export function clampRange({ firstRow, rowCount, firstColumn, columnCount }: Range): Range {
  const clamp = (value: number, max: number) => Math.min(Math.max(0, Math.floor(value) || 0), max);
  const [top, left] = [clamp(firstRow, MAX_ROWS - 1), clamp(firstColumn, MAX_COLUMNS - 1)];
  return {
    firstRow: top,
    rowCount: clamp(rowCount, Math.min(MAX_VISIBLE_ROWS, MAX_ROWS - top)),
    firstColumn: left,
    columnCount: clamp(columnCount, Math.min(MAX_VISIBLE_COLUMNS, MAX_COLUMNS - left)),
  };
}

interface Place {
  row: number;
  column: number;
}

/** Returns the server's range of a displayed range: pending inserts and deletes move it. */
export function sourceRange(range: Range, sourceOf: (row: number, column: number) => Place | undefined): Range {
  const found: Place[] = [];
  const add = (row: number, column: number) => {
    const source = sourceOf(row, column);
    if (source !== undefined) found.push(source);
  };
  for (let row = range.firstRow; row < range.firstRow + range.rowCount; row += 1) {
    add(row, range.firstColumn);
    add(row, range.firstColumn + range.columnCount - 1);
  }
  for (let column = range.firstColumn; column < range.firstColumn + range.columnCount; column += 1) {
    add(range.firstRow, column);
  }
  return clampRange(boundsOf(found));
}

function blocksIn(sheet: number, range: Range): BlockPlace[] {
  const places: BlockPlace[] = [];
  const lastRow = Math.min(range.firstRow + range.rowCount, MAX_ROWS) - 1;
  const lastColumn = Math.min(range.firstColumn + range.columnCount, MAX_COLUMNS) - 1;
  for (let rowBlock = Math.floor(range.firstRow / BLOCK_ROWS); rowBlock * BLOCK_ROWS <= lastRow; rowBlock += 1) {
    const firstBlock = Math.floor(range.firstColumn / BLOCK_COLUMNS);
    for (let columnBlock = firstBlock; columnBlock * BLOCK_COLUMNS <= lastColumn; columnBlock += 1) {
      places.push({ sheet, rowBlock, columnBlock });
    }
  }
  return places;
}

/** Returns the blocks of `range`, and those of the next screen in the direction from `previous`. */
export function wantedBlocks(sheet: number, range: Range, previous: Range | null): BlockPlace[] {
  const visible = blocksIn(sheet, range);
  if (previous === null) return visible;
  const rowStep = Math.sign(range.firstRow - previous.firstRow) * Math.max(range.rowCount, BLOCK_ROWS / 2);
  const columnStep = Math.sign(range.firstColumn - previous.firstColumn) * Math.max(range.columnCount, BLOCK_COLUMNS / 2);
  if (rowStep === 0 && columnStep === 0) return visible;
  const next = clampRange({
    ...range,
    firstRow: range.firstRow + rowStep,
    firstColumn: range.firstColumn + columnStep,
  });
  const keys = new Set(visible.map(blockKey));
  return [...visible, ...blocksIn(sheet, next).filter((place) => !keys.has(blockKey(place)))];
}
