/** Decodes the replies of the API. */

import { cellValueOf, fieldsOf, integerOf, listOf, oneOf, optionalInteger, optionalList } from "./decode";
import { optionalText, textOf, withoutAbsent } from "./decode";
import { decodeEntry, decodeSpans } from "./decode-operation";
import { MAX_COLUMNS, MAX_ROWS } from "./limits";
import type { Extent } from "./types";
import type * as wire from "./wire";

function decodeExtent(value: unknown): Extent {
  const fields = fieldsOf(value, "an extent");
  const rows = integerOf(fields.rows, "the rows of an extent", MAX_ROWS);
  return { rows, columns: integerOf(fields.columns, "the columns of an extent", MAX_COLUMNS) };
}

export function decodeHead(value: unknown): wire.HeadReply {
  const fields = fieldsOf(value, "the head");
  return { head: integerOf(fields.head, "head"), incarnation: integerOf(fields.incarnation, "incarnation") };
}

export function decodeSheets(value: unknown): wire.SheetsReply {
  const fields = fieldsOf(value, "the sheets");
  return {
    sheets: listOf(fields.sheets, "sheets", decodeSheet),
    nextSheet: integerOf(fields.next_sheet, "next_sheet"),
    names: optionalList(fields.names, "names", decodeName) ?? [],
    position: integerOf(fields.position, "position"),
    incarnation: integerOf(fields.incarnation, "incarnation"),
  };
}

function decodeName(value: unknown): string {
  return textOf(fieldsOf(value, "a defined name").name, "a defined name");
}

function decodeSheet(value: unknown): wire.SheetView {
  const fields = fieldsOf(value, "a sheet");
  const sheet = integerOf(fields.sheet, "the number of a sheet");
  return { sheet, name: textOf(fields.name, "the name of a sheet"), extent: decodeExtent(fields.extent) };
}

export function decodeEntries(value: unknown): wire.EntriesReply {
  const fields = fieldsOf(value, "the entries");
  return withoutAbsent<wire.EntriesReply>({
    entries: listOf(fields.entries, "entries", decodeEntry),
    head: integerOf(fields.head, "head"),
    incarnation: integerOf(fields.incarnation, "incarnation"),
    next: optionalInteger(fields.next, "next"),
  });
}

function decodeCell(value: unknown): wire.WireCell {
  const fields = fieldsOf(value, "a cell");
  return withoutAbsent<wire.WireCell>({
    row: integerOf(fields.row, "a row", MAX_ROWS - 1),
    column: integerOf(fields.column, "a column", MAX_COLUMNS - 1),
    value: cellValueOf(fields.value),
    formula: optionalText(fields.formula, "a formula"),
    format: optionalText(fields.format, "a format"),
    stale: fields.stale === true ? true : undefined,
    note: optionalText(fields.note, "a note"),
    filledBy: optionalText(fields.filled_by, "filled_by"),
    fills: optionalText(fields.fills, "fills"),
  });
}

function decodeRangeFormat(value: unknown): wire.RangeFormat {
  const fields = fieldsOf(value, "a range format");
  const rows = decodeSpans(fields.rows, MAX_ROWS);
  return { rows, columns: decodeSpans(fields.columns, MAX_COLUMNS), format: textOf(fields.format, "a format") };
}

export function decodeCells(value: unknown): wire.CellsReply {
  const fields = fieldsOf(value, "the cells");
  return withoutAbsent<wire.CellsReply>({
    cells: listOf(fields.cells, "cells", decodeCell),
    formats: optionalList(fields.formats, "formats", decodeRangeFormat),
    extent: decodeExtent(fields.extent),
    position: integerOf(fields.position, "position"),
    incarnation: integerOf(fields.incarnation, "incarnation"),
    sheet: integerOf(fields.sheet, "sheet"),
    next: optionalText(fields.next, "next"),
  });
}

function decodeCounts(value: unknown): Record<string, number> {
  const counts = Object.entries(fieldsOf(value, "the counts of an undo"));
  const numbers = counts.filter((count): count is [string, number] => Number.isSafeInteger(count[1]));
  return Object.fromEntries(numbers);
}

function decodeReversal(value: unknown) {
  if (value === undefined || value === null) return undefined;
  const fields = fieldsOf(value, "a reversal");
  return { restored: decodeCounts(fields.restored), left: decodeCounts(fields.left) };
}

function decodeRejection(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const fields = fieldsOf(value, "a rejection");
  return optionalText(fields.detail, "a detail") ?? textOf(fields.reason, "a reason");
}

function decodeResult(value: unknown): wire.MutationResult {
  const fields = fieldsOf(value, "a result");
  return withoutAbsent<wire.MutationResult>({
    id: integerOf(fields.id, "a mutation id"),
    status: oneOf(fields.status, ["appended", "duplicate", "rejected"] as const, "a status"),
    position: optionalInteger(fields.position, "a position"),
    rejection: decodeRejection(fields.rejection),
    reversal: decodeReversal(fields.reversal),
  });
}

export function decodeAppend(value: unknown): wire.AppendReply {
  const fields = fieldsOf(value, "the reply to an append");
  const results = listOf(fields.results, "results", decodeResult);
  return { results, head: integerOf(fields.head, "head") };
}

export function decodeDetails(value: unknown): wire.DetailsReply {
  const fields = fieldsOf(value, "the details");
  const status = fields.status;
  return withoutAbsent<wire.DetailsReply>({
    // A caller without a role may still read what a cached permission allows.
    role: oneOf(fields.role ?? "viewer", ["viewer", "editor", "owner"] as const, "role"),
    readOnlyReason: status === "archived" || status === "deleted" ? `The spreadsheet is ${status}` : undefined,
  });
}
