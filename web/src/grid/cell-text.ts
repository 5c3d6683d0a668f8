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
  if (typeof value === "number") return isDateFormat(cell.format) ? dateInput(value, cell.text) : String(value);
  if (typeof value === "boolean") return value ? "TRUE" : "FALSE";
  return value === null ? "" : value.error;
}

/** Returns an input that stores exactly this cell's contents elsewhere. */
export function copyInput(cell: Cell | undefined): string {
  const input = editText(cell);
  if (!cell || cell.formula !== undefined) return input;
  if (typeof cell.value === "string") return `'${cell.value}`;
  return typeof cell.value === "number" && !isReadAsNumber(input) ? `=${input}` : input;
}

/** The server reads a number with an exponent or more than 15 digits as text. */
function isReadAsNumber(input: string): boolean {
  if (DATE_INPUT.test(input)) return true;
  return /^-?\d+(?:\.\d+)?$/.test(input) && input.replace(/^-?[0.]*|\./g, "").length <= 15;
}

const LIKE_A_NUMBER = /^[-+($€£ ]*\d[\d.,'’ /:-]*(?:e[-+]?\d+)?[%)€$£ ]*$/i;

/** Returns whether a text was meant as a number or date, but is stored as text, such as `5,000` or `24.12.2026`. */
export function isUnreadNumber(input: string): boolean {
  return LIKE_A_NUMBER.test(input) && !isReadAsNumber(input);
}

export function formulaText(formula: string): string {
  return formula.startsWith("=") ? formula : `=${formula}`;
}

const DATE_INPUT = /^\d{4}([-/])\d\d\1\d\d(?:[ T]\d\d:\d\d:\d\d)?$/;
const UNIX_EPOCH_SERIAL = 25_569;
/** The server reads no earlier dates: spreadsheets disagree about them. */
const FIRST_DATE_SERIAL = 61;

/** Returns an input that is read as this date. Other formats, such as 31.12.2026, would be read as text. */
function dateInput(serial: number, text: string): string {
  if (DATE_INPUT.test(text)) return text;
  if (!(serial >= FIRST_DATE_SERIAL && serial < 2_958_466)) return String(serial);
  const seconds = Math.round((serial - UNIX_EPOCH_SERIAL) * 86_400);
  const [date, time] = new Date(seconds * 1_000).toISOString().slice(0, 19).split("T");
  return time === "00:00:00" ? date! : `${date} ${time}`;
}

function isDateFormat(format: string | undefined): boolean {
  return format !== undefined && /[ydhs]/i.test(format.replace(/"[^"]*"|\[[^\]]*\]|\\.|general/gi, ""));
}
