import type { LayoutShift, Mark, Range } from "../data/types";
import { contains, lastColumn, lastRow } from "./selection";
import { shiftRange } from "./shift";

/** Marks of one sheet by row, so that marks outside the view cost nothing in a frame. */
export class MarkIndex {
  readonly #marks: readonly Mark[];
  /** Largest last row of the marks up to each index. */
  readonly #ends: readonly number[];

  constructor(marks: readonly Mark[], sheet: number) {
    this.#marks = marks.filter((mark) => mark.sheet === sheet).sort((a, b) => a.firstRow - b.firstRow);
    let end = -1;
    this.#ends = this.#marks.map((mark) => (end = Math.max(end, lastRow(mark))));
  }

  /** Returns the marks that touch a range, at most `limit`. */
  within(range: Range, limit: number): Mark[] {
    const found: Mark[] = [];
    for (let at = this.#firstEndingAt(range.firstRow); at < this.#marks.length && found.length < limit; at++) {
      const mark = this.#marks[at]!;
      if (mark.firstRow > lastRow(range)) break;
      const isBeside = mark.firstColumn > lastColumn(range) || lastColumn(mark) < range.firstColumn;
      if (!isBeside && lastRow(mark) >= range.firstRow) found.push(mark);
    }
    return found;
  }

  #firstEndingAt(row: number): number {
    let [low, high] = [0, this.#ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#ends[middle]! < row) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export type MarkLayer = "app" | "found" | "formula";

/** The highlighted cells: those of the app, found cells, and the references of the formula that is edited. */
export class Marks {
  readonly #layers = new Map<MarkLayer, readonly Mark[]>();
  #index: MarkIndex | null = null;
  #sheet = -1;

  set(layer: MarkLayer, marks: readonly Mark[]): void {
    this.#layers.set(layer, marks);
    this.#index = null;
  }

  get(layer: MarkLayer): readonly Mark[] {
    return this.#layers.get(layer) ?? [];
  }

  shift(sheet: number, shift: LayoutShift): void {
    for (const [layer, marks] of this.#layers) {
      if (marks.length > 0) this.set(layer, marks.flatMap((mark) => (mark.sheet === sheet ? (shiftRange(mark, shift) ?? []) : mark)));
    }
  }

  within(sheet: number, range: Range, limit: number): Mark[] {
    if (!this.#index || sheet !== this.#sheet) this.#index = new MarkIndex([...this.#layers.values()].flat(), sheet);
    this.#sheet = sheet;
    return this.#index.within(range, limit);
  }

  /** Returns the labels at a cell, for screen readers. */
  labelsAt(sheet: number, row: number, column: number): string[] {
    const cell = { firstRow: row, rowCount: 1, firstColumn: column, columnCount: 1 };
    return this.within(sheet, cell, 3).flatMap((mark) => (mark.label && contains(mark, row, column) ? `${mark.kind} ${mark.label}` : []));
  }
}
