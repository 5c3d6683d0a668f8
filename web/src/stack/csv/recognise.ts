/**
 * Recognises numbers, dates and booleans that are displayed exactly as they are written, by the rules
 * of `cellar import` (`exchange/src/typing/recognise.rs`). Codes such as `0E8` and `007` stay text.
 */

import { displayText, generalText } from "../../data/text";

export interface RecognisedNumber {
  kind: "number";
  value: number;
  decimals: number;
  /** Whether `General` displays the number as it is written. */
  isGeneral: boolean;
  /** Whether the number format with `decimals` decimals displays it as it is written. */
  isFixed: boolean;
}

export type Recognised =
  | { kind: "boolean"; value: boolean }
  | { kind: "date"; value: number; format: string }
  | RecognisedNumber;

const MAX_DECIMALS = 15;
/** Numbers of at most 15 digits keep all of them. */
const EXACT_MANTISSA_END = 1e15;
const MAX_MANTISSA_DIGITS = 19;
/** Lower bound of the positive numbers that are displayed without an exponent. */
const MIN_WITHOUT_EXPONENT = 1e-6;

/** Returns undefined if there are too many decimals. */
export function fixedFormat(decimals: number): string | undefined {
  if (decimals > MAX_DECIMALS) return undefined;
  return decimals === 0 ? "0" : `0.${"0".repeat(decimals)}`;
}

/** Returns undefined if the value would be displayed differently from `text`. */
export function recognise(text: string): Recognised | undefined {
  const first = text.charCodeAt(0);
  const isDigitOrMinus = (first >= 48 && first <= 57) || first === 45;
  if (!isDigitOrMinus) {
    return text === "TRUE" || text === "FALSE" ? { kind: "boolean", value: text === "TRUE" } : undefined;
  }
  const isLikeDate = (text.length === 10 || text.length === 19) && (text[4] === "-" || text[4] === "/");
  return isLikeDate ? recogniseDate(text) : recogniseNumber(text);
}

const NUMBER = /^-?(0|[1-9]\d*)(?:\.(\d+))?$/;

function recogniseNumber(text: string): RecognisedNumber | undefined {
  const match = NUMBER.exec(text);
  if (match === null) return undefined;
  const [, whole = "", fraction = ""] = match;
  const decimals = fraction.length;
  const mantissa = Number(whole + fraction);
  if (whole.length + decimals > MAX_MANTISSA_DIGITS || mantissa >= EXACT_MANTISSA_END) {
    return withSheetRules(text, decimals);
  }
  const value = Number(text);
  if (decimals > 0 && mantissa > 0 && Math.abs(value) < MIN_WITHOUT_EXPONENT) return withSheetRules(text, decimals);
  const isGeneral = decimals === 0 || !text.endsWith("0");
  if (!isGeneral && decimals > MAX_DECIMALS) return undefined;
  return { kind: "number", value, decimals, isGeneral, isFixed: decimals >= 1 && decimals <= MAX_DECIMALS };
}

function withSheetRules(text: string, decimals: number): RecognisedNumber | undefined {
  const value = Number(text);
  if (generalText(value) === text) return { kind: "number", value, decimals, isGeneral: true, isFixed: false };
  const format = decimals === 0 ? undefined : fixedFormat(decimals);
  if (format === undefined || displayText(value, format) !== text) return undefined;
  return { kind: "number", value, decimals, isGeneral: false, isFixed: true };
}

const DATE = /^(\d{4})([-/])(\d\d)([-/])(\d\d)(?:([ T])(\d\d):(\d\d):(\d\d))?$/;
const DAY_MS = 86_400_000;
const EPOCH_MS = Date.UTC(1899, 11, 30);
/** 1900-03-01: spreadsheets disagree about earlier dates. */
const FIRST_SERIAL = 61;

function recogniseDate(text: string): Recognised | undefined {
  const match = DATE.exec(text);
  if (match === null) return undefined;
  const [, year, separator, month, second, day, between, ...time] = match;
  if (separator !== second || (separator === "/" && between !== undefined)) return undefined;
  const utcMs = Date.UTC(Number(year), Number(month) - 1, Number(day));
  const days = (utcMs - EPOCH_MS) / DAY_MS;
  // An impossible date, such as 30 February, is another one in this calendar.
  const isReal = new Date(utcMs).toISOString().startsWith(`${year}-${month}-${day}T`);
  if (!isReal || days < FIRST_SERIAL) return undefined;
  const datePart = `yyyy${separator}mm${separator}dd`;
  if (between === undefined) return { kind: "date", value: days, format: datePart };
  const [hours = 0, minutes = 0, seconds = 0] = time.map(Number);
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined;
  const secondOfDay = hours * 3_600 + minutes * 60 + seconds;
  return { kind: "date", value: days + secondOfDay / 86_400, format: `${datePart}${between}hh:mm:ss` };
}
