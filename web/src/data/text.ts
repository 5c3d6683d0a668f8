/**
 * Displayed texts. The API sends values and number formats. This covers the number formats that
 * typed input gets and the common ones of files; others are loaded when they are needed.
 */

import { fifteenDigits } from "./fifteen-digits";
import type { CellValue } from "./types";

const GENERAL = "General";
const MS_PER_DAY = 86_400_000;
/** Day 0 of serial dates. */
const DATE_EPOCH_MS = Date.UTC(1899, 11, 30);
const MAX_DATE_SERIAL = 2_958_466;
/** 1900-03-01: spreadsheets disagree about earlier dates. */
export const FIRST_DATE_SERIAL = 61;

type Formatter = typeof import("./format/index");

let formatter: Formatter | null = null;
/** Called when texts that were displayed without it are displayed otherwise. */
const listeners = new Set<() => void>();
let isMissed = false;

/** Loads the code for all number formats, which few pages need. Returns false if it cannot be loaded: numbers are shown as `General` then. */
export async function loadFormatter(): Promise<boolean> {
  const loaded = await import("./format/index").catch(() => null);
  if (formatter !== null || loaded === null) return formatter !== null;
  formatter = loaded;
  if (isMissed) for (const listener of listeners) listener();
  return true;
}

/** Calls the listener when texts change, because the code for their formats was loaded. Returns a function that ends it. */
export function whenTextsChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Returns the text of a value whose format needs the code that is loaded later, or undefined for any other one. */
export function laterText(value: CellValue, format: string = GENERAL): string | undefined {
  return quickText(value, format) === undefined ? displayText(value, format) : undefined;
}

/** Returns whether the displayed text needs `loadFormatter`. */
export function needsFormatter(value: CellValue, format: string = GENERAL): boolean {
  return formatter === null && quickText(value, format) === undefined;
}

/** Returns the shortest text that gives the same number, as the server writes it. */
export function generalText(number: number): string {
  return Object.is(number, -0) ? "-0" : String(number).replace("e+", "e");
}

/** Returns the text of a number that a formula returned: it has at most 15 digits, so that 0.1 + 0.2 is 0.3. */
export function resultText(number: number): string {
  const [mantissa = "0", power = "0"] = fifteenDigits(Math.abs(number)).split("e");
  const exponent = Number(power);
  const digits = mantissa.replace(".", "").replace(/0+$/, "");
  const sign = number < 0 ? "-" : "";
  if (digits === "") return "0";
  if (exponent < -10 || exponent > 20) {
    const fraction = digits.slice(1);
    const point = fraction === "" ? "" : ".";
    return `${sign}${digits[0]}${point}${fraction}E${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  const fraction = digits.slice(exponent + 1);
  return `${sign}${whole}${fraction === "" ? "" : `.${fraction}`}`;
}

/** `isResult` says whether a formula returned the value. */
export function displayText(value: CellValue, format: string = GENERAL, isResult = false): string {
  if (isResult && typeof value === "number" && format === GENERAL) return resultText(value);
  const quick = quickText(value, format);
  if (quick !== undefined) return quick;
  // An edit needs its text at once, but its format may be the first one that is not common.
  if (formatter === null && !isMissed) void loadFormatter();
  isMissed ||= formatter === null;
  if (typeof value === "string") return formatter?.formatted(value, format, generalText) ?? value;
  return typeof value === "number" ? (formatter?.formatted(value, format, generalText) ?? generalText(value)) : "";
}

/** Returns undefined if the text depends on the code for all number formats. */
function quickText(value: CellValue, format: string): string | undefined {
  if (value === null) return "";
  if (typeof value === "string") return format !== "@" && /@|;[^]*;[^]*;/.test(format) ? undefined : value;
  if (typeof value === "boolean") return value ? "TRUE" : "FALSE";
  if (typeof value === "object") return value.error;
  if (format === GENERAL) return generalText(value);
  return numberText(value, format) ?? dateText(value, format);
}

const NUMBER_FORMAT = /^(#,##)?0(?:\.(0{1,30}))?(%)?$/;

function numberText(number: number, format: string): string | undefined {
  const match = NUMBER_FORMAT.exec(format);
  if (match === null) return undefined;
  const [, groups, decimals, percent] = match;
  const text = fixedText(Math.abs(number), decimals?.length ?? 0, percent === undefined ? 0 : 2);
  if (text === undefined) return undefined;
  const [whole = "", fraction] = text.split(".");
  const grouped = groups === undefined ? whole : whole.replace(/\B(?=(\d{3})+$)/g, ",");
  const sign = (number < 0 && /[1-9]/.test(text)) || Object.is(number, -0) ? "-" : "";
  return `${sign}${grouped}${fraction === undefined ? "" : `.${fraction}`}${percent ?? ""}`;
}

/** Rounds the 15 digits of the number half up: 1.005 with two decimals is 1.01. */
function fixedText(magnitude: number, decimals: number, shift: number): string | undefined {
  /** Above it, a rounded number may differ from that of the server. */
  const MAX_SCALED = 1e11;
  const [digits, exponent] = fifteenDigits(magnitude).split("e");
  const scaled = Math.round(Number(`${digits}e${Number(exponent) + shift + decimals}`));
  if (scaled >= MAX_SCALED) return undefined;
  const text = String(scaled).padStart(decimals + 1, "0");
  return decimals === 0 ? text : `${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
}

/** Typed dates and times have these formats. */
const DATE_FORMAT = /^yyyy([-/])mm\1dd([ T]hh:mm:ss)?$/;

function dateText(serial: number, format: string): string | undefined {
  const match = DATE_FORMAT.exec(format);
  if (match === null) return undefined;
  // A date without a time is only corrected for the imprecision of serial numbers.
  const unitMs = match[2] === undefined ? 1 : 1_000;
  const ms = Math.round((serial * MS_PER_DAY) / unitMs) * unitMs;
  if (ms < FIRST_DATE_SERIAL * MS_PER_DAY || ms >= MAX_DATE_SERIAL * MS_PER_DAY) return undefined;
  const iso = new Date(DATE_EPOCH_MS + ms).toISOString();
  const parts: Record<string, string> = {
    yyyy: iso.slice(0, 4),
    mm: iso.slice(5, 7),
    dd: iso.slice(8, 10),
    "hh:mm:ss": iso.slice(11, 19),
  };
  return format.replace(/yyyy|hh:mm:ss|mm|dd/g, (part) => parts[part] ?? "");
}

/** Returns the serial number of a time in UTC. */
export function serialOf(utcMs: number): number {
  return (utcMs - DATE_EPOCH_MS) / MS_PER_DAY;
}
