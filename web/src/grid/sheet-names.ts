import type { SheetInfo } from "../data/types";

/** The server's limit, as in Excel. */
export const MAX_SHEET_NAME_LENGTH = 31;

/** Returns the first free name such as `Sheet 3`. */
export function freeSheetName(sheets: readonly SheetInfo[]): string {
  const names = new Set(sheets.map(({ name }) => name.toLowerCase()));
  for (let number = sheets.length + 1; ; number++) {
    if (!names.has(`sheet${number}`)) return `Sheet${number}`;
  }
}

/** Returns why a sheet cannot have a name, or null. */
export function sheetNameProblem(name: string, sheet: number, sheets: readonly SheetInfo[]): string | null {
  if (name === "") return "The name of a sheet cannot be empty";
  if ([...name].length > MAX_SHEET_NAME_LENGTH) return `"${name}" has more than ${MAX_SHEET_NAME_LENGTH} characters`;
  const bad = /[[\]:*?/\\]/.exec(name);
  if (bad) return `The name of a sheet cannot contain ${bad[0]}`;
  if (/^'|'$/.test(name)) return "The name of a sheet cannot start or end with an apostrophe";
  const isTaken = sheets.some((info) => info.sheet !== sheet && info.name.toLowerCase() === name.toLowerCase());
  return isTaken ? `Another sheet is called ${name}` : null;
}
