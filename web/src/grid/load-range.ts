import type { Cell, Range, SheetSource } from "../data/types";
import { MAX_LOADED_AT_ONCE } from "./limits";
import { lastRow, mapCells, someCell } from "./selection";

const REPEAT_MS = 400;
const GIVE_UP_MS = 20_000;

export function isRangeLoaded(range: Range, source: SheetSource): boolean {
  return !someCell(range, (row, column) => !source.isLoaded(row, column));
}

/** Reads cells that may not be loaded, part by part. Fails if rows move meanwhile: the cells would not fit together. */
export async function readRange(range: Range, source: SheetSource): Promise<(Cell | undefined)[][]> {
  const { sheet } = source;
  let problem = "";
  const unsubscribe = source.subscribe((change) => {
    if (change.kind === "layout" || source.sheet !== sheet) problem = "The cells moved while they were copied. Copy again.";
  });
  try {
    const cells: (Cell | undefined)[][] = [];
    for (const part of partsOf(range)) {
      await load(part, source, () => problem);
      cells.push(...mapCells(part, (row, column) => source.cellAt(row, column)));
    }
    return cells;
  } finally {
    unsubscribe();
  }
}

function* partsOf(range: Range): Generator<Range> {
  const rows = Math.max(1, Math.floor(MAX_LOADED_AT_ONCE / range.columnCount));
  for (let firstRow = range.firstRow; firstRow <= lastRow(range); firstRow += rows) {
    yield { ...range, firstRow, rowCount: Math.min(rows, lastRow(range) - firstRow + 1) };
  }
}

/** Asks again from time to time, since scrolling cancels the request. */
async function load(part: Range, source: SheetSource, problemOf: () => string): Promise<void> {
  const end = Date.now() + GIVE_UP_MS;
  while (!isRangeLoaded(part, source)) {
    if (Date.now() > end) throw new Error("The cells did not load. Check the connection, then copy again.");
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, REPEAT_MS);
      const unsubscribe = source.subscribe(done);
      function done(): void {
        clearTimeout(timer);
        unsubscribe();
        // After the listeners of the same change.
        setTimeout(resolve);
      }
      source.request(part);
    });
    if (problemOf()) throw new Error(problemOf());
  }
}
