/** Builds the operations of a user's edits, or a message about why an edit is impossible. */

import { withoutAbsent } from "./decode";
import { parseInput } from "./input";
import { MAX_CELLS_PER_EDIT, MAX_COLUMNS, MAX_EDIT_BYTES, MAX_INSERTED_LINES, MAX_ROWS } from "./limits";
import type { CellInput } from "./types";
import type { CellEdit, Operation } from "./wire";

export function cellsOperations(sheet: number, inputs: readonly CellInput[]): Operation[] | string {
  const cells: CellEdit[] = [];
  for (const { row, column, input } of inputs) {
    if (!isIndex(row, MAX_ROWS) || !isIndex(column, MAX_COLUMNS)) return "A cell is outside the sheet";
    const typed = parseInput(String(input));
    if (typed === undefined) return "A text is too long for a cell";
    const { value, formula, format } = typed;
    cells.push(withoutAbsent<CellEdit>({ row, column, value, formula, format }));
  }
  return split(cells).map((part) => ({ kind: "setCells", sheet, cells: part }));
}

/** Splits the cells of an edit into parts that the server accepts. */
function split(cells: readonly CellEdit[]): CellEdit[][] {
  const parts: CellEdit[][] = [];
  const encoder = new TextEncoder();
  let bytes = 0;
  for (const cell of cells) {
    const size = encoder.encode(JSON.stringify(cell)).length + 1;
    const part = parts[parts.length - 1];
    const isFull = part === undefined || part.length >= MAX_CELLS_PER_EDIT || bytes + size > MAX_EDIT_BYTES;
    bytes = isFull ? size : bytes + size;
    if (isFull) parts.push([cell]);
    else part.push(cell);
  }
  return parts;
}

export function insertion(
  kind: "insertRows" | "insertColumns",
  sheet: number,
  before: number,
  count: number,
): Operation[] | string {
  const limit = kind === "insertRows" ? MAX_ROWS : MAX_COLUMNS;
  const isValid = isIndex(before, limit) && isIndex(count, MAX_INSERTED_LINES + 1) && count > 0;
  if (!isValid) return `Insert from 1 to ${MAX_INSERTED_LINES} rows or columns inside the sheet`;
  return [{ kind, sheet, before, count }];
}

export function deletion(
  kind: "deleteRows" | "deleteColumns",
  sheet: number,
  first: number,
  count: number,
): Operation[] | string {
  const limit = kind === "deleteRows" ? MAX_ROWS : MAX_COLUMNS;
  const isValid = isIndex(first, limit) && isIndex(count, limit + 1) && count > 0 && first + count <= limit;
  return isValid ? [{ kind, sheet, spans: [{ first, count }] }] : "Delete rows or columns inside the sheet";
}

function isIndex(value: number, limit: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value < limit;
}
