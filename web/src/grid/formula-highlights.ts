import type { Mark, SheetInfo, SheetRange } from "../data/types";
import { areaRange } from "./formula-area";
import { tokenize, type Token } from "./formula-tokens";

/** A reference in a formula, and the cells that it names, or null if they do not exist. */
export interface PlacedReference {
  start: number;
  end: number;
  range: SheetRange | null;
  /** Number of the color. References to the same cells have the same one. */
  color: number;
}

/** A long formula has its first references in color: more colors are not useful, and each reference is drawn. */
const MAX_COLORED_REFERENCES = 200;

/** Returns the references of a formula in the order of its text. `ownSheet` is the sheet of the formula. */
export function placeReferences(tokens: readonly Token[], sheets: readonly SheetInfo[], ownSheet: number): PlacedReference[] {
  const colors = new Map<string, number>();
  const placed: PlacedReference[] = [];
  for (const token of tokens) {
    if (token.kind !== "reference" || placed.length >= MAX_COLORED_REFERENCES) continue;
    const range = rangeOf(token, sheets, ownSheet);
    const key = range ? Object.values(range).join() : "";
    if (range && !colors.has(key)) colors.set(key, colors.size);
    placed.push({ start: token.start, end: token.end, range, color: colors.get(key) ?? -1 });
  }
  return placed;
}

function rangeOf(token: Token, sheets: readonly SheetInfo[], ownSheet: number): SheetRange | null {
  if (!token.area) return null;
  const name = token.sheet?.toLowerCase();
  const sheet = name === undefined ? ownSheet : sheets.find((info) => info.name.toLowerCase() === name)?.sheet;
  return sheet === undefined ? null : { sheet, ...areaRange(token.area) };
}

/** Returns the marks of the references of a formula, one for each range. */
export function referenceMarks(placed: readonly PlacedReference[]): Mark[] {
  const marks = new Map<number, Mark>();
  for (const { range, color } of placed) if (range) marks.set(color, { kind: "reference", color, ...range });
  return [...marks.values()];
}

/** Returns the cells that a formula reads by its text. */
export function precedentsOf(formula: string, sheets: readonly SheetInfo[], ownSheet: number): SheetRange[] {
  const marks = referenceMarks(placeReferences(tokenize(formula), sheets, ownSheet));
  return marks.map(({ kind: _, color: __, ...range }) => range);
}
