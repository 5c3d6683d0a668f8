/** Makes blocks of the cells of a reply. */

import { withoutAbsent } from "./decode";
import { Block, blockKey, placeOf, type BlockPlace, type StoredCell } from "./block";
import { BLOCK_COLUMNS, BLOCK_ROWS } from "./limits";
import { displayText } from "./text";
import type { Range } from "./types";
import type { CellsReply, RangeFormat, WireCell } from "./wire";

export function rangeOf(places: readonly BlockPlace[]): Range {
  const first = places[0] ?? { rowBlock: 0, columnBlock: 0 };
  return {
    firstRow: first.rowBlock * BLOCK_ROWS,
    rowCount: BLOCK_ROWS,
    firstColumn: first.columnBlock * BLOCK_COLUMNS,
    columnCount: places.length * BLOCK_COLUMNS,
  };
}

export function blocksOf(places: readonly BlockPlace[], reply: Pick<CellsReply, "sheet" | "cells" | "formats">): Block[] {
  const blocks = new Map(places.map((place) => [blockKey(place), new Block(place)]));
  for (const block of blocks.values()) block.markAllLoaded();
  for (const cell of reply.cells) {
    // A cell outside the requested range has no block and is ignored.
    const block = blocks.get(blockKey(placeOf(reply.sheet, cell.row, cell.column)));
    block?.set(cell.row, cell.column, storedCell(cell, reply.formats));
  }
  return [...blocks.values()];
}

/** The newest range format is last. A format of the cell itself is more specific. */
export function formatOf({ row, column, format }: WireCell, formats: readonly RangeFormat[]): string | undefined {
  const contains = (spans: RangeFormat["rows"], index: number) =>
    spans.some(({ first, count }) => first <= index && index < first + count);
  return format ?? formats.findLast(({ rows, columns }) => contains(rows, row) && contains(columns, column))?.format;
}

function storedCell(wire: WireCell, formats: readonly RangeFormat[]): StoredCell {
  const { row: _row, column: _column, ...cell } = wire;
  const format = formatOf(wire, formats);
  const isWaiting = cell.value === null && cell.stale === true && cell.formula !== undefined;
  const isResult = cell.formula !== undefined || cell.filledBy !== undefined;
  const text = isWaiting ? (cell.formula ?? "") : displayText(cell.value, format, isResult);
  return withoutAbsent<StoredCell>({ ...cell, format, text });
}
