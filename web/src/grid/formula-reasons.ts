import type { Cell, SheetRange, SheetSource } from "../data/types";
import { cellName, type CellAddress } from "./address";
import { formulaText } from "./cell-text";
import { precedentsOf } from "./formula-highlights";
import { lastColumn, lastRow } from "./selection";

const CYCLE_NOTE = "the formula depends on itself";
/** Cells of the precedents that are searched for the origin of an error: enough for what a user can check by eye. */
const MAX_SEARCHED_CELLS = 500;

/** Why a formula has an error, and what to do. The texts of the server's notes are added. */
const REASONS: Record<string, string> = {
  "#DIV/0!": "The formula divides by zero or by a blank cell.",
  "#N/A": "A value is not available: a search found nothing, or a cell that the formula reads is #N/A.",
  "#NAME?": "The formula has a name or function that does not exist. Check its spelling; put texts in quotes.",
  "#NULL!": "The ranges have no cell in common. A space between two ranges means their common cells.",
  "#NUM!": "A number is outside what the function accepts, or the result is too large or does not exist.",
  "#REF!": "The formula refers to cells or a sheet that do not exist, such as deleted ones.",
  "#VALUE!": "A value has the wrong type, such as a text instead of a number.",
  "#SPILL!": "The result has several cells and does not fit. Clear the cells that it would fill.",
  "#CALC!": "The result is an array that no cell can show, such as a filter that found nothing.",
};
const OTHER = "This error comes from an imported file. Cellar does not calculate it.";

/** Returns what is special about a cell, one line for each fact. */
export function explain(cell: Cell): string[] {
  const lines: string[] = [];
  if (cell.value !== null && typeof cell.value === "object") lines.push(`${cell.value.error}: ${errorReason(cell.value.error, cell.note)}`);
  if (cell.stale) lines.push("Stale: this value was not calculated after the last change.");
  if (cell.filledBy !== undefined) lines.push(`Filled by the formula in ${cell.filledBy}.`);
  if (cell.note && !isCycle(cell.note)) lines.push(sentence(cell.note));
  return lines;
}

function errorReason(error: string, note: string | undefined): string {
  if (note !== undefined && isCycle(note)) return `${sentence(note)} Change one of the formulas that depend on each other.`;
  return REASONS[error] ?? OTHER;
}

function isCycle(note: string): boolean {
  return note.startsWith(CYCLE_NOTE);
}

function sentence(note: string): string {
  return note.charAt(0).toUpperCase() + note.slice(1) + (/[.!?]$/.test(note) ? "" : ".");
}

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
