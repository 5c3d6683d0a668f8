import type { CellInput, Range, SheetSource } from "../data/types";
import { copyInput } from "./cell-text";
import { readPaste, serializeHtml } from "./clipboard-html";
import { serializeTsv } from "./clipboard-text";
import { formatNumber } from "./cell-text";
import { MAX_COLUMNS, MAX_COPIED_CELLS, MAX_PASTED_CELLS, MAX_ROWS } from "./limits";
import { moveReferences } from "./references";
import { currentRange, usedPart, type Selection } from "./selection";

export interface Copied {
  plain: string;
  html: string;
}

/** Copies the current range, or returns a message that says why not. */
export function copyRange(selection: Selection, source: SheetSource): Copied | string {
  if (selection.ranges.length > 1) return "Only one range can be copied at a time";
  const range = usedPart(currentRange(selection), source.extent, MAX_COPIED_CELLS);
  if (!range) return "The selected cells are empty";
  const count = range.rowCount * range.columnCount;
  if (count > MAX_COPIED_CELLS) {
    return `${formatNumber(count)} cells are selected; at most ${formatNumber(MAX_COPIED_CELLS)} can be copied. Export the sheet instead.`;
  }
  if (!isRangeLoaded(range, source)) {
    source.request(range);
    return "Some of the selected cells are still loading. Copy again in a moment.";
  }
  return serialize(range, source);
}

function isRangeLoaded(range: Range, source: SheetSource): boolean {
  return mapCells(range, (row, column) => source.isLoaded(row, column)).every((row) => row.every(Boolean));
}

function serialize(range: Range, source: SheetSource): Copied {
  const cells = mapCells(range, (row, column) => source.cellAt(row, column));
  const texts = cells.map((row) => row.map((cell) => ({ text: cell?.text ?? "", isText: typeof cell?.value === "string" })));
  const plain = serializeTsv(texts.map((row) => row.map((cell) => cell.text)));
  const inputs = cells.map((row) => row.map(copyInput));
  return { plain, html: serializeHtml(texts, { row: range.firstRow, column: range.firstColumn, inputs }, plain) };
}

export function mapCells<T>(range: Range, read: (row: number, column: number) => T): T[][] {
  return Array.from({ length: range.rowCount }, (_, y) =>
    Array.from({ length: range.columnCount }, (_, x) => read(range.firstRow + y, range.firstColumn + x)),
  );
}

export interface PasteResult {
  inputs: CellInput[];
  range: Range;
  message: string | null;
}

/** Returns the edits of a paste, or a message that says why not. One pasted cell fills the whole selected range. */
export function pasteInto(selection: Selection, plain: string, html: string): PasteResult | string {
  const { rows, origin, formulasAsText } = readPaste(plain, html);
  const height = rows.length;
  const width = Math.max(0, ...rows.map((row) => row.length));
  if (height === 0 || width === 0) return "The clipboard has no text";
  const target = targetRange(currentRange(selection), height, width);
  if (target.rowCount * target.columnCount > MAX_PASTED_CELLS) {
    return `${formatNumber(target.rowCount * target.columnCount)} cells; at most ${formatNumber(MAX_PASTED_CELLS)} can be pasted. Import a file instead.`;
  }
  const inputs: CellInput[] = [];
  for (let y = 0; y < target.rowCount; y++) {
    for (let x = 0; x < target.columnCount; x++) {
      const text = rows[y % height]![x % width];
      if (text === null || text === undefined) continue;
      const cell = { row: target.firstRow + y, column: target.firstColumn + x };
      const move = origin && { rows: cell.row - origin.row - (y % height), columns: cell.column - origin.column - (x % width) };
      inputs.push({ ...cell, input: move && text.startsWith("=") ? moveReferences(text, move.rows, move.columns) : text });
    }
  }
  const message = formulasAsText > 0 ? `${formatNumber(formulasAsText)} texts that start with = were pasted as text` : null;
  return { inputs, range: target, message };
}

/** A range that is a multiple of what is pasted is filled with copies, as in other spreadsheets. */
function targetRange(selected: Range, height: number, width: number): Range {
  const isMultiple = selected.rowCount % height === 0 && selected.columnCount % width === 0;
  const isWhole = selected.rowCount * selected.columnCount > MAX_PASTED_CELLS;
  const rowCount = isMultiple && !isWhole ? selected.rowCount : height;
  const columnCount = isMultiple && !isWhole ? selected.columnCount : width;
  return {
    ...selected,
    rowCount: Math.min(rowCount, MAX_ROWS - selected.firstRow),
    columnCount: Math.min(columnCount, MAX_COLUMNS - selected.firstColumn),
  };
}

/** Returns edits that clear the cells of the selection that have contents. */
export function clearInputs(selection: Selection, source: SheetSource): CellInput[] | string {
  const inputs: CellInput[] = [];
  for (const selected of selection.ranges) {
    const range = usedPart(selected, source.extent, MAX_PASTED_CELLS);
    if (!range) continue;
    if (inputs.length + range.rowCount * range.columnCount > MAX_PASTED_CELLS) {
      return `At most ${formatNumber(MAX_PASTED_CELLS)} cells can be cleared at a time. Delete rows or columns instead.`;
    }
    for (const row of mapCells(range, (row, column) => ({ row, column, input: "" }))) inputs.push(...row);
  }
  // Cells that are known to be empty need no edit; cells that are not loaded may have contents.
  return inputs.filter(({ row, column }) => !source.isLoaded(row, column) || source.cellAt(row, column) !== undefined);
}
