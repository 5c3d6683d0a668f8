import type { Cell } from "../data/types";

const CYCLE_NOTE = "the formula depends on itself";

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
