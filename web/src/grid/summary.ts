import type { Range, SheetSource } from "../data/types";
import { formatNumber } from "./cell-text";
import { MAX_SUMMED_CELLS } from "./limits";
import { intersect, isSingleCell, usedPart, type Selection } from "./selection";

export interface Summary {
  sum: number;
  numbers: number;
  count: number;
  /** False if some selected cells are not loaded or were not looked at. */
  isComplete: boolean;
}

/** Adds up the loaded cells of the selection. Cells in several ranges count once per range. */
export function summarize(selection: Selection, source: SheetSource, visible: Range): Summary {
  const summary = { sum: 0, numbers: 0, count: 0, isComplete: true, rounding: 0 };
  let budget = MAX_SUMMED_CELLS;
  for (const selected of selection.ranges) {
    let range = usedPart(selected, source.extent, budget);
    if (range && range.rowCount * range.columnCount > budget) {
      summary.isComplete = false;
      range = intersect(range, visible);
    }
    if (!range) continue;
    budget -= range.rowCount * range.columnCount;
    addCells(summary, range, source);
  }
  return { ...summary, sum: summary.sum + summary.rounding };
}

function addCells(summary: Summary & { rounding: number }, range: Range, source: SheetSource): void {
  for (let row = range.firstRow; row < range.firstRow + range.rowCount; row++) {
    for (let column = range.firstColumn; column < range.firstColumn + range.columnCount; column++) {
      const cell = source.cellAt(row, column);
      if (!cell) {
        if (!source.isLoaded(row, column)) summary.isComplete = false;
        continue;
      }
      if (cell.value !== null) summary.count++;
      if (typeof cell.value !== "number") continue;
      summary.numbers++;
      const sum = summary.sum + cell.value;
      // Neumaier's sum: what is rounded away adds up too.
      const [large, small] = Math.abs(summary.sum) >= Math.abs(cell.value) ? [summary.sum, cell.value] : [cell.value, summary.sum];
      summary.rounding += large - sum + small;
      summary.sum = sum;
    }
  }
}

export function summaryText(selection: Selection, source: SheetSource, visible: Range): string {
  if (isSingleCell(selection)) return "";
  const { sum, numbers, count, isComplete } = summarize(selection, source, visible);
  if (count === 0) return isComplete ? "Empty" : "No selected cell is loaded";
  const parts = [`Count ${formatNumber(count)}`];
  if (numbers > 0) parts.unshift(`Sum ${formatNumber(sum)}`, `Average ${formatNumber(sum / numbers)}`);
  return parts.join(" · ") + (isComplete ? "" : " (loaded cells only)");
}
