import type { Cell, CellInput, Range } from "../data/types";
import { copyInput, formatNumber } from "./cell-text";
import { serializeHtml, type Pasted } from "./clipboard-html";
import { serializeTsv } from "./clipboard-text";
import { MAX_COLUMNS, MAX_COPIED_CELLS, MAX_PASTED_CELLS, MAX_ROWS } from "./limits";
import { moveReferences } from "./references";
import { currentRange, usedPart, type GridSize, type Selection } from "./selection";

export interface Copied {
  plain: string;
  html: string;
}

/** Returns the range that is copied, or a message that says why none is. */
export function rangeToCopy(selection: Selection, extent: GridSize): Range | string {
  if (selection.ranges.length > 1) return "Only one range can be copied at a time";
  const range = usedPart(currentRange(selection), extent, MAX_COPIED_CELLS);
  if (!range) return "The selected cells are empty";
  const count = range.rowCount * range.columnCount;
  if (count <= MAX_COPIED_CELLS) return range;
  return `${formatNumber(count)} cells are selected; at most ${formatNumber(MAX_COPIED_CELLS)} can be copied. Export the sheet instead.`;
}

export function serialize(range: Range, cells: readonly (readonly (Cell | undefined)[])[], isCut: boolean): Copied {
  const texts = cells.map((row) => row.map((cell) => ({ text: cell?.text ?? "", isText: typeof cell?.value === "string" })));
  const plain = serializeTsv(texts.map((row) => row.map((cell) => cell.text)));
  const inputs = cells.map((row) => row.map(copyInput));
  return { plain, html: serializeHtml(texts, { row: range.firstRow, column: range.firstColumn, inputs, isCut }, plain) };
}

export interface PasteResult {
  inputs: CellInput[];
  /** The inputs that were pasted as text, as formulas. Stored if the user confirms them. */
  formulas: CellInput[];
  range: Range;
  message: string | null;
}

/** Returns the edits of a paste, or a message that says why not. One pasted cell fills all selected ranges. */
export function pasteInto(selection: Selection, pasted: Pasted): PasteResult | string {
  const height = pasted.rows.length;
  const width = pasted.rows.reduce((most, row) => Math.max(most, row.length), 0);
  if (height === 0 || width === 0) return "The clipboard has no text";
  const isOne = height === 1 && width === 1;
  const targets = (isOne ? selection.ranges : [currentRange(selection)]).map((range) => targetRange(range, height, width));
  const count = targets.reduce((sum, target) => sum + target.rowCount * target.columnCount, 0);
  if (count > MAX_PASTED_CELLS) {
    return `${formatNumber(count)} cells; at most ${formatNumber(MAX_PASTED_CELLS)} can be pasted. Import a file instead.`;
  }
  const range = targets[targets.length - 1]!;
  const result: PasteResult = { inputs: [], formulas: [], range, message: null };
  for (const target of targets) pasteAt(target, pasted, width, result);
  if (result.formulas.length > 0) result.message = `${formatNumber(result.formulas.length)} texts that start with = were pasted as text`;
  else if (range.rowCount < height || range.columnCount < width) result.message = "The sheet ends before the pasted cells do; the others were left out";
  return result;
}

function pasteAt(target: Range, { rows, origin, formulasAsText }: Pasted, width: number, result: PasteResult): void {
  const height = rows.length;
  for (let y = 0; y < target.rowCount; y++) {
    for (let x = 0; x < target.columnCount; x++) {
      const text = rows[y % height]![x % width];
      if (text === null || text === undefined) continue;
      const cell = { row: target.firstRow + y, column: target.firstColumn + x };
      const isMoved = origin && !origin.isCut && text.startsWith("=");
      const moved = (): string => moveReferences(text, cell.row - origin!.row - (y % height), cell.column - origin!.column - (x % width));
      result.inputs.push({ ...cell, input: isMoved ? moved() : text });
      if (formulasAsText && text.startsWith("'=")) result.formulas.push({ ...cell, input: text.slice(1) });
    }
  }
}

/** A range that is a multiple of the pasted one is filled with copies, as in other spreadsheets. */
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
