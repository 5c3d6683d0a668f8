import type { Mark, Range, SheetSource } from "../data/types";
import { MAX_FOUND_LOCALLY, MAX_SEARCHED_CELLS } from "./limits";
import { lastColumn, lastRow } from "./selection";

export interface FoundCell {
  sheet: number;
  row: number;
  column: number;
}

/** What a search found so far, in the order of sheets, rows and columns. */
export interface FoundCells {
  cells: readonly FoundCell[];
  /** Number of matching cells, if it is more than `cells`. */
  count?: number;
  /** Number of searched cells whose values are older than their formulas: cells may be missing or wrong. */
  staleCount?: number;
  /** Only a part was searched: more may follow. */
  isPartial?: boolean;
}

export function marksOfFound(cells: readonly FoundCell[]): Mark[] {
  return cells.map(({ sheet, row, column }) => ({ sheet, firstRow: row, rowCount: 1, firstColumn: column, columnCount: 1, kind: "found" }));
}

/** Searches the loaded cells around the view, where no app asks the server. */
export function findLoaded(text: string, source: SheetSource, visible: Range): FoundCells {
  const wanted = text.toLowerCase();
  const { sheet, extent } = source;
  const columns = Math.max(extent.columns, lastColumn(visible) + 1);
  const rows = Math.ceil(MAX_SEARCHED_CELLS / columns / 2);
  const first = Math.max(0, visible.firstRow - rows);
  const last = Math.min(Math.max(extent.rows, lastRow(visible) + 1), lastRow(visible) + rows) - 1;
  const cells: FoundCell[] = [];
  let staleCount = 0;
  for (let row = first; row <= last; row++) {
    for (let column = 0; column < columns && cells.length < MAX_FOUND_LOCALLY; column++) {
      const cell = source.cellAt(row, column);
      if (cell?.stale) staleCount += 1;
      if (cell?.text.toLowerCase().includes(wanted)) cells.push({ sheet, row, column });
    }
  }
  return { cells, staleCount, isPartial: true };
}

/** Returns the index of the found cell after the given one, or before it; the search continues at the other end. */
export function nextFound(marks: readonly Mark[], at: FoundCell, step: 1 | -1): number {
  const distance = (mark: Mark) => mark.sheet - at.sheet || mark.firstRow - at.row || mark.firstColumn - at.column;
  if (step > 0) {
    const next = marks.findIndex((mark) => distance(mark) > 0);
    return next < 0 ? 0 : next;
  }
  const previous = marks.findLastIndex((mark) => distance(mark) < 0);
  return previous < 0 ? marks.length - 1 : previous;
}
