/**
 * Converts typed text to a value, a formula and a number format, by the rules of `cellar set`
 * (`core/sheet/src/cell/typing.rs`): a text becomes a number, date or boolean only if the value is
 * displayed as exactly the same text, so that codes such as `007` remain text. Unlike `cellar set`,
 * a leading apostrophe keeps the rest as text, as in other spreadsheets.
 */

import { MAX_TEXT_LENGTH } from "./limits";
import { displayText, FIRST_DATE_SERIAL, generalText, serialOf } from "./text";
import type { CellValue } from "./types";

export interface TypedInput {
  value?: CellValue;
  formula?: string;
  format?: string;
}

const ERRORS = [
  "#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A", "#GETTING_DATA", "#SPILL!",
  "#CONNECT!", "#BLOCKED!", "#CALC!", "#LOST!",
];
const MAX_FORMULA_LENGTH = 8_192;
const MAX_DECIMALS = 15;

/** Returns undefined if the text is too long for a cell. */
export function parseInput(input: string): TypedInput | undefined {
  if (input === "") return { value: null };
  if (input.startsWith("=")) {
    return input.length > MAX_FORMULA_LENGTH ? undefined : { formula: input };
  }
  if (new TextEncoder().encode(input).length > MAX_TEXT_LENGTH) return undefined;
  if (input.startsWith("'")) return { value: input.slice(1) };
  if (input === "TRUE" || input === "FALSE") return { value: input === "TRUE" };
  if (ERRORS.includes(input)) return { value: { error: input } };
  return parseNumber(input) ?? parseDate(input) ?? { value: input };
}

function parseNumber(text: string): TypedInput | undefined {
  if (!/^-?\d+(\.\d+)?$/.test(text)) return undefined;
  const value = Number(text);
  const general = generalText(value);
  if (general === text) return { value };
  const decimals = text.split(".")[1]?.length ?? 0;
  if (decimals === 0 || decimals > MAX_DECIMALS) return undefined;
  // Only zeros may follow the shortest decimals of the number.
  const shortest = general.includes(".") ? general : `${general}.`;
  const isPadded = text.startsWith(shortest) && /^0*$/.test(text.slice(shortest.length));
  return isPadded ? { value, format: `0.${"0".repeat(decimals)}` } : undefined;
}

const DATE = /^(\d{4})([-/])(\d\d)\2(\d\d)(?:([ T])(\d\d):(\d\d):(\d\d))?$/;

function parseDate(text: string): TypedInput | undefined {
  const match = DATE.exec(text);
  if (match === null) return undefined;
  const [, year, separator, month, day, between, hours, minutes, seconds] = match;
  if (between !== undefined && separator === "/") return undefined;
  const time = between === undefined ? "" : `${between}hh:mm:ss`;
  const clock = Date.UTC(0, 0, 1, Number(hours ?? 0), Number(minutes ?? 0), Number(seconds ?? 0)) - Date.UTC(0, 0, 1);
  const value = serialOf(Date.UTC(Number(year), Number(month) - 1, Number(day)) + clock);
  const format = `yyyy${separator}mm${separator}dd${time}`;
  if (value < FIRST_DATE_SERIAL) return undefined;
  // An impossible date, such as 30 February, would be displayed as another one.
  return displayText(value, format) === text ? { value, format } : undefined;
}
