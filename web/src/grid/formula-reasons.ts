import type { Cell, SheetRange, SheetSource } from "../data/types";
import { cellName, type CellAddress } from "./address";
import { explain } from "./cell-reasons";
import { formulaText } from "./cell-text";
import { precedentsOf } from "./formula-highlights";
import { lastColumn, lastRow } from "./selection";

/** Cells of the precedents that are searched for the origin of an error: enough for what a user can check by eye. */
const MAX_SEARCHED_CELLS = 500;

/** Explains the cell at an address. With the loaded cells, it also names the formula that fills it and the origin of an error. */
export function explainAt(source: SheetSource, { row, column }: CellAddress): string[] {
  const cell = source.cellAt(row, column);
  if (!cell) return [];
  const lines = explain(cell);
  const filler = cell.filledBy === undefined ? undefined : cellNamed(source, cell.filledBy);
  if (filler?.formula !== undefined) lines.push(formulaText(filler.formula));
  const origin = errorOrigin(source, cell);
  if (origin) lines.push(`${origin} has this error too.`);
  return lines;
}

/** Returns the first cell that the formula reads and that has its error, or null. */
function errorOrigin(source: SheetSource, cell: Cell): string | null {
  if (cell.formula === undefined || cell.value === null || typeof cell.value !== "object") return null;
  const { error } = cell.value;
  const own = precedentsOf(formulaText(cell.formula), source.sheets, source.sheet).filter(({ sheet }) => sheet === source.sheet);
  let searched = 0;
  for (const { row, column } of own.flatMap((range) => cellsOf(range, MAX_SEARCHED_CELLS))) {
    if (searched++ >= MAX_SEARCHED_CELLS) return null;
    const value = source.cellAt(row, column)?.value;
    const isItself = row === cell.row && column === cell.column;
    if (!isItself && value !== null && typeof value === "object" && value.error === error) return cellName(row, column);
  }
  return null;
}

function cellsOf(range: SheetRange, limit: number): CellAddress[] {
  const cells: CellAddress[] = [];
  for (let row = range.firstRow; row <= lastRow(range); row++) {
    for (let column = range.firstColumn; column <= lastColumn(range); column++) {
      if (cells.push({ row, column }) >= limit) return cells;
    }
  }
  return cells;
}

function cellNamed(source: SheetSource, name: string): Cell | undefined {
  const range = precedentsOf(`=${name}`, source.sheets, source.sheet)[0];
  return range && source.cellAt(range.firstRow, range.firstColumn);
}
