/** Builds the operations that add, rename and delete sheets, or a message about why one is impossible. */

import type { SheetInfo } from "./types";
import type { Operation } from "./wire";

const MAX_NAME_LENGTH = 31;

/** Returns why a sheet cannot have the name, or undefined. The rules are those of Excel. */
function faultOf(name: string): string | undefined {
  if (name.trim() === "") return "A sheet needs a name";
  if ([...name].length > MAX_NAME_LENGTH) return `The name of a sheet has at most ${MAX_NAME_LENGTH} characters`;
  if (/[[\]:*?/\\]|\p{Cc}/u.test(name)) return "The name of a sheet cannot contain [ ] : * ? / \\ or a control character";
  if (name.startsWith("'") || name.endsWith("'")) return "The name of a sheet cannot begin or end with an apostrophe";
  return undefined;
}

export function newSheet(sheet: number, name: string): Operation[] | string {
  return faultOf(name) ?? [{ kind: "addSheet", sheet, name }];
}

export function renaming(sheet: number, name: string, sheets: readonly SheetInfo[]): Operation[] | string {
  const found = sheets.find((info) => info.sheet === sheet);
  if (found === undefined) return "The sheet was deleted";
  return faultOf(name) ?? (found.name === name ? [] : [{ kind: "renameSheet", sheet, name }]);
}

export function sheetDeletion(sheet: number, sheets: readonly SheetInfo[]): Operation[] | string {
  if (!sheets.some((info) => info.sheet === sheet)) return "The sheet was deleted";
  return sheets.length === 1 ? "The only sheet cannot be deleted; add another sheet first" : [{ kind: "deleteSheet", sheet }];
}
