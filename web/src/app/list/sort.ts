/** The order of the list. */

import type { Spreadsheet } from "../../stack/details";

export type SortOrder = "newest" | "name";

const COLLATOR = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

export function sortSpreadsheets(spreadsheets: readonly Spreadsheet[], order: SortOrder): Spreadsheet[] {
  const byName = (a: Spreadsheet, b: Spreadsheet) => COLLATOR.compare(a.name, b.name) || a.id.localeCompare(b.id);
  if (order === "name") return [...spreadsheets].sort(byName);
  return [...spreadsheets].sort((a, b) => (b.createdS ?? 0) - (a.createdS ?? 0) || byName(a, b));
}

export function displayName(name: string): string {
  return name === "" ? "Untitled spreadsheet" : name;
}
