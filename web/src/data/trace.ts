/** Traces cells: what a formula reads, and which formulas read a cell. */

import { cellName } from "../base/sheet";
import type { Api } from "./api";
import { fieldsOf, integerOf, listOf } from "./decode";
import { MAX_COLUMNS, MAX_ROWS } from "./limits";
import type { CellTrace, SheetRange } from "./types";

export function traceCell(api: Api, sheet: string, row: number, column: number): Promise<CellTrace> {
  return api.get("/cells/trace", { sheet, cell: cellName(row, column) }, decodeTrace);
}

/** Returns the rectangle of rows and columns. A whole column has all rows that a sheet can have. */
function decodeArea(value: unknown): SheetRange {
  const fields = fieldsOf(value, "an area");
  const rows = fieldsOf(fields.rows, "the rows of an area");
  const columns = fieldsOf(fields.columns, "the columns of an area");
  return {
    sheet: integerOf(fields.sheet, "the sheet of an area"),
    firstRow: integerOf(rows.first, "the first row of an area", MAX_ROWS),
    rowCount: integerOf(rows.count, "the number of rows of an area", MAX_ROWS),
    firstColumn: integerOf(columns.first, "the first column of an area", MAX_COLUMNS),
    columnCount: integerOf(columns.count, "the number of columns of an area", MAX_COLUMNS),
  };
}

function decodeTracedCell(value: unknown): SheetRange {
  const fields = fieldsOf(value, "a traced cell");
  const firstRow = integerOf(fields.row, "a row", MAX_ROWS - 1);
  const firstColumn = integerOf(fields.column, "a column", MAX_COLUMNS - 1);
  return { sheet: integerOf(fields.sheet, "a sheet"), firstRow, rowCount: 1, firstColumn, columnCount: 1 };
}

function decodeTrace(value: unknown): CellTrace {
  const fields = fieldsOf(value, "the trace of a cell");
  const precedents = listOf(fields.precedents, "precedents", decodeArea);
  return { precedents, dependents: listOf(fields.dependents, "dependents", decodeTracedCell) };
}
