/**
 * Displayed texts. The API sends values and number formats. This covers the number formats that
 * typed input gets and the common ones of files; any other is shown as `General`.
 */

import type { CellValue } from "./types";

const GENERAL = "General";
const MS_PER_DAY = 86_400_000;
/** Day 0 of serial dates. */
const DATE_EPOCH_MS = Date.UTC(1899, 11, 30);
const MAX_DATE_SERIAL = 2_958_466;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Returns the shortest text that gives the same number, as the server writes it. */
export function generalText(number: number): string {
  return String(number).replace("e+", "e");
}

export function displayText(value: CellValue, format: string = GENERAL): string {
  if (value === null) return "";
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "TRUE" : "FALSE";
  if (typeof value === "object") return value.error;
  return numberText(value, format) ?? dateText(value, format) ?? generalText(value);
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
  const sign = number < 0 && /[1-9]/.test(text) ? "-" : "";
  return `${sign}${grouped}${fraction === undefined ? "" : `.${fraction}`}${percent ?? ""}`;
}

/** Rounds the shortest decimal, half away from zero: 1.005 with two decimals is 1.01. */
function fixedText(magnitude: number, decimals: number, shift: number): string | undefined {
  const MAX_PLAIN = 1e15;
  if (magnitude >= MAX_PLAIN) return undefined;
  const [digits, exponent = "0"] = String(magnitude).split("e");
  const scaled = Math.round(Number(`${digits}e${Number(exponent) + shift + decimals}`));
  if (scaled >= 2 ** 53) return Number(`${digits}e${Number(exponent) + shift}`).toFixed(decimals);
  const text = String(scaled).padStart(decimals + 1, "0");
  return decimals === 0 ? text : `${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
}

const DATE_TOKENS = /yyyy|yy|mmm|mm|m|dd|d|hh|h|ss|T/g;

function dateText(serial: number, format: string): string | undefined {
  if (!/^(?:yyyy|yy|mmm|mm|m|dd|d|hh|h|ss|[-/:., T])+$/.test(format)) return undefined;
  if (!/[ymdh]/.test(format) || serial < 0 || serial >= MAX_DATE_SERIAL) return undefined;
  const date = new Date(DATE_EPOCH_MS + Math.round(serial * (MS_PER_DAY / 1_000)) * 1_000);
  let previous = "";
  return format.replace(DATE_TOKENS, (token) => {
    const text = tokenText(token, date, previous.startsWith("h"));
    if (token !== "T") previous = token;
    return text;
  });
}

function tokenText(token: string, date: Date, isAfterHours: boolean): string {
  const padded = (number: number) => String(number).padStart(token.length, "0");
  switch (token) {
    case "yyyy":
      return padded(date.getUTCFullYear());
    case "yy":
      return padded(date.getUTCFullYear() % 100);
    case "mmm":
      return MONTHS[date.getUTCMonth()] ?? "";
    case "mm":
    case "m":
      return padded(isAfterHours ? date.getUTCMinutes() : date.getUTCMonth() + 1);
    case "dd":
    case "d":
      return padded(date.getUTCDate());
    case "hh":
    case "h":
      return padded(date.getUTCHours());
    case "ss":
      return padded(date.getUTCSeconds());
    default:
      return token;
  }
}

/** Returns the serial number of a time in UTC. */
export function serialOf(utcMs: number): number {
  return (utcMs - DATE_EPOCH_MS) / MS_PER_DAY;
}
