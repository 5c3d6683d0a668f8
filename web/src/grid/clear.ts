import type { CellInput, SheetSource } from "../data/types";
import { formatNumber } from "./cell-text";
import { MAX_PASTED_CELLS } from "./limits";
import { mapCells, usedPart, type Selection } from "./selection";

/** Returns edits that clear the cells of the selection that have contents. */
export function clearInputs(selection: Selection, source: SheetSource): CellInput[] | string {
  const inputs: CellInput[] = [];
  for (const selected of selection.ranges) {
    const range = usedPart(selected, source.extent, MAX_PASTED_CELLS);
    if (!range) continue;
    if (inputs.length + range.rowCount * range.columnCount > MAX_PASTED_CELLS) {
      return `At most ${formatNumber(MAX_PASTED_CELLS)} cells can be cleared at a time. Delete rows or columns instead.`;
    }
    for (const row of mapCells(range, (row, column) => ({ row, column, input: "" }))) inputs.push(...row);
  }
  // Cells that are known to be empty need no edit; cells that are not loaded may have contents.
  return inputs.filter(({ row, column }) => !source.isLoaded(row, column) || source.cellAt(row, column) !== undefined);
}
