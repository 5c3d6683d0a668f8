/** The selections of clients as the API writes them. */

import { fieldsOf, integerOf, listOf, textOf } from "./decode";
import { MAX_COLUMNS, MAX_ROWS } from "./limits";
import type { SheetRange } from "./types";

/** What another client has selected, in the rows and columns of the position `at`. */
export interface Announced {
  client: string;
  author: string;
  range: SheetRange;
  at: number;
  seenMsAgo: number;
}

export function selectionToJson({ sheet, firstRow, rowCount, firstColumn, columnCount }: SheetRange, at: number): unknown {
  const rows = { first_row: firstRow, last_row: firstRow + rowCount - 1 };
  return { sheet, ...rows, first_column: firstColumn, last_column: firstColumn + columnCount - 1, at };
}

/** Leaves out what cannot be read: others write it, and the server does not check that the position exists. */
export function decodePresence(value: unknown): Announced[] {
  return listOf(fieldsOf(value, "the presence").others, "the others", (item) => {
    try {
      return [decodeOther(item)];
    } catch {
      return [];
    }
  }).flat();
}

function decodeOther(value: unknown): Announced {
  const fields = fieldsOf(value, "another client");
  const selection = fieldsOf(fields.selection, "a selection");
  const lastRow = integerOf(selection.last_row, "the last row", MAX_ROWS - 1);
  const lastColumn = integerOf(selection.last_column, "the last column", MAX_COLUMNS - 1);
  const firstRow = integerOf(selection.first_row, "the first row", lastRow);
  const firstColumn = integerOf(selection.first_column, "the first column", lastColumn);
  const [rowCount, columnCount] = [lastRow - firstRow + 1, lastColumn - firstColumn + 1];
  return {
    client: textOf(fields.client_key, "a client key"),
    author: textOf(fields.author, "an author"),
    range: { sheet: integerOf(selection.sheet, "a sheet"), firstRow, rowCount, firstColumn, columnCount },
    at: integerOf(selection.at, "a position"),
    seenMsAgo: integerOf(fields.seen_ms_ago, "the time since an announcement"),
  };
}
