/** The list of sheets after an operation. The twin of `core/sheet/src/metadata/tabs.rs`. */

import type { SheetInfo } from "./types";
import type { Operation } from "./wire";

/** Returns whether an operation adds, renames or deletes a sheet. */
export function changesTabs({ kind }: Operation): boolean {
  return kind === "addSheet" || kind === "importSheet" || kind === "renameSheet" || kind === "deleteSheet";
}

/** Returns the number of the sheet that the operation adds. */
export function addedSheetOf(operation: Operation | undefined): number | undefined {
  return operation?.kind === "addSheet" || operation?.kind === "importSheet" ? operation.sheet : undefined;
}

export function tabsAfter(tabs: readonly SheetInfo[], operation: Operation): readonly SheetInfo[] {
  switch (operation.kind) {
    case "addSheet":
      return withSheet(tabs, operation, tabs.findIndex(({ sheet }) => sheet === operation.before));
    case "importSheet": {
      const index = tabs.findIndex(({ sheet }) => sheet === operation.replaces);
      return withSheet(tabs.filter(({ sheet }) => sheet !== operation.replaces), operation, index);
    }
    case "renameSheet":
      return tabs.map((info) => {
        const others = tabs.filter((other) => other !== info);
        return info.sheet === operation.sheet ? { ...info, name: uniqueName(others, operation.name) } : info;
      });
    case "deleteSheet":
      // The only sheet is never deleted.
      return tabs.length === 1 ? tabs : tabs.filter(({ sheet }) => sheet !== operation.sheet);
    default:
      return tabs;
  }
}

function withSheet(tabs: readonly SheetInfo[], added: { sheet: number; name: string }, index: number): readonly SheetInfo[] {
  if (tabs.some(({ sheet }) => sheet === added.sheet)) return tabs;
  const info = { sheet: added.sheet, name: uniqueName(tabs, added.name), extent: { rows: 0, columns: 0 } };
  return tabs.toSpliced(index < 0 ? tabs.length : index, 0, info);
}

/** Appends the lowest unused number to a name that another sheet has. The server's reply corrects rare cases. */
function uniqueName(others: readonly SheetInfo[], name: string): string {
  const used = new Set(others.map((other) => other.name.toLowerCase()));
  if (!used.has(name.toLowerCase())) return name;
  for (let number = 2; ; number += 1) {
    const numbered = `${name} (${number})`;
    if (!used.has(numbered.toLowerCase())) return numbered;
  }
}
