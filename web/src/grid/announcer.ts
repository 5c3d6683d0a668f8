import type { SheetSource } from "../data/types";
import { cellName, rangeName } from "./address";
import { formatNumber } from "./cell-text";
import { make, setText } from "./dom";
import { currentRange, isSingleCell, type GridSize, type Selection } from "./selection";

const MAX_SPOKEN = 500;

/**
 * Tells screen readers where the user is, as text: several ignore `aria-rowcount`, or count only the rows in the
 * document. The only place that speaks, so that nothing is heard twice.
 */
export class Announcer {
  readonly element = make("div", "quiet", { "aria-live": "polite", "aria-atomic": "true" });
  /** The cell was not loaded when it was announced. */
  #isWaiting = false;

  /** Returns whether the contents of the active cell have arrived after it was announced. */
  isDue({ active }: Selection, source: SheetSource): boolean {
    return this.#isWaiting && source.isLoaded(active.row, active.column);
  }

  announce(selection: Selection, source: SheetSource, size: GridSize, labels: readonly string[]): void {
    const { row, column } = selection.active;
    const cell = source.cellAt(row, column);
    this.#isWaiting = !source.isLoaded(row, column);
    const content = cell ? shortened(cell.text) || "blank" : this.#isWaiting ? "loading" : "blank";
    const marks = [cell?.stale ? "stale" : "", cell?.pending ? "not sent" : "", cell?.filledBy ? `filled by ${cell.filledBy}` : ""];
    const parts = [cellName(row, column), content, ...marks, ...labels, rowText(row, source.extent.rows)];
    if (!isSingleCell(selection)) parts.push(`selected ${rangeName(currentRange(selection), size.rows, size.columns)}`);
    setText(this.element, parts.filter(Boolean).join(", "));
  }
}

function shortened(text: string): string {
  return text.length > MAX_SPOKEN ? `${text.slice(0, MAX_SPOKEN)}, and more` : text;
}

function rowText(row: number, rowCount: number): string {
  const isUsed = row < rowCount;
  return isUsed ? `row ${formatNumber(row + 1)} of ${formatNumber(rowCount)}` : `row ${formatNumber(row + 1)}, after the last row`;
}
