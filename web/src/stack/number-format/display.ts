/** Displays cells as the server and `cellar export` do (`core/sheet/src/cell/format.rs`). */

import type { CellValue } from "../../data/types";
import { GENERAL, generalText, resultText } from "./general";
import { NumberFormat } from "./number-format";

export { generalText };

export interface DisplayedCell {
  value: CellValue;
  formula?: string;
  format?: string;
}

export function displayCell({ value, formula, format = GENERAL }: DisplayedCell): string {
  if (value === null) return "";
  if (typeof value === "string") return displayText(value, format);
  if (typeof value === "boolean") return value ? "TRUE" : "FALSE";
  if (typeof value === "object") return value.error;
  return formula !== undefined && format === GENERAL ? resultText(value) : displayNumber(value, format);
}

export function displayNumber(number: number, format: string): string {
  if (format === GENERAL) return generalText(number);
  return parsed(format)?.display(number) ?? generalText(number);
}

/** Text has a section of its own in formats with `@` or with four sections. */
function displayText(text: string, format: string): string {
  const SEPARATORS_OF_FOUR_SECTIONS = 3;
  if (format === GENERAL || format === "@") return text;
  const mayFormatText = format.includes("@") || format.split(";").length > SEPARATORS_OF_FOUR_SECTIONS;
  return mayFormatText ? (parsed(format)?.displayText(text) ?? text) : text;
}

/** A sheet has few formats, and an export displays each of them many times. */
const MAX_PARSED = 500;
const parsedFormats = new Map<string, NumberFormat | undefined>();

function parsed(code: string): NumberFormat | undefined {
  if (parsedFormats.has(code)) return parsedFormats.get(code);
  if (parsedFormats.size >= MAX_PARSED) parsedFormats.clear();
  const format = NumberFormat.parse(code);
  parsedFormats.set(code, format);
  return format;
}
