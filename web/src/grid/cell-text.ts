import type { Cell } from "../data/types";

const NUMBER_WITH_SEPARATORS = new Intl.NumberFormat("en-US", { maximumFractionDigits: 10 });
/** Texts that the server would read as another type if they were typed. */
const LOOKS_LIKE_A_VALUE = /^(?:['=+\-.#]|\d|true$|false$)/i;

export function formatNumber(value: number): string {
  return NUMBER_WITH_SEPARATORS.format(value);
}

/** Returns the text that the editor shows for a cell: its formula, or its value with full precision. */
export function editText(cell: Cell | undefined): string {
  if (!cell) return "";
  if (cell.formula !== undefined) return formulaText(cell.formula);
  const { value } = cell;
  if (typeof value === "string") return LOOKS_LIKE_A_VALUE.test(value) ? `'${value}` : value;
  if (typeof value === "number") return isDateFormat(cell.format) ? cell.text : String(value);
  if (typeof value === "boolean") return value ? "TRUE" : "FALSE";
  return value === null ? "" : value.error;
}

/** Returns an input that stores exactly this cell's contents elsewhere. */
export function copyInput(cell: Cell | undefined): string {
  if (cell && cell.formula === undefined && typeof cell.value === "string") return `'${cell.value}`;
  return editText(cell);
}

export function formulaText(formula: string): string {
  return formula.startsWith("=") ? formula : `=${formula}`;
}

function isDateFormat(format: string | undefined): boolean {
  return format !== undefined && /[ydhs]/i.test(format.replace(/"[^"]*"|\[[^\]]*\]|general/gi, ""));
}
