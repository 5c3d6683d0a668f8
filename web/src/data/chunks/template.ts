/** The stored form of a formula, which does not depend on its cell. */

import { MAX_COLUMNS, MAX_ROWS, MAX_TEMPLATE_REFERENCES, SHEET_ID_LIMIT } from "./bounds";
import { malformed } from "./format-error";

const SHEET = "(?:(?<sheet>0|[1-9]\\d{0,9}|'(?:[^']|'')*')!)?";
const [ROW, COLUMN] = ["(?:R0|r0|(?:R|r-?)[1-9]\\d{0,9})", "(?:C0|c0|(?:C|c-?)[1-9]\\d{0,9})"];
const CELL = ROW + COLUMN;
const REFERENCE = new RegExp(`^${SHEET}(?:x|(?<place>${CELL}(?::${CELL})?|${ROW}:${ROW}|${COLUMN}:${COLUMN}))$`, "u");
const NUMBERS = /([Rr])-?(\d+)|([Cc])-?(\d+)/g;

/** Throws unless each reference of a template is as the format says. The rest of the formula is not checked. */
export function checkTemplate(template: string): void {
  const parts = template.split("\u{2}");
  const last = parts.pop() ?? "";
  if (!template.startsWith("=") || last.includes("\u{1}")) throw malformed("a template is malformed");
  if (parts.length > MAX_TEMPLATE_REFERENCES) throw malformed(`a template has ${parts.length} references`);
  for (const part of parts) {
    const start = part.indexOf("\u{1}");
    if (start < 0 || !isReference(part.slice(start + 1))) throw malformed("a reference of a template is malformed");
  }
}

function isReference(text: string): boolean {
  const groups = REFERENCE.exec(text)?.groups;
  if (groups === undefined) return false;
  const { sheet = "", place = "" } = groups;
  if (!sheet.startsWith("'") && Number(sheet) >= SHEET_ID_LIMIT) return false;
  return [...place.matchAll(NUMBERS)].every(([, row, rowNumber, , columnNumber]) =>
    row === undefined ? Number(columnNumber) < MAX_COLUMNS : Number(rowNumber) < MAX_ROWS,
  );
}
