/** Decodes the replies that contain cells, entries and differences. */

import { cellValueOf, fieldsOf, integerOf, listOf, MalformedReply, oneOf, optionalInteger } from "../data/decode";
import { optionalList, optionalText, textOf, withoutAbsent, type Fields } from "../data/decode";
import { operationOf, spansOf, type Operation } from "./operations";
import type * as types from "./types";

const isSet = (field: unknown) => field !== undefined && field !== null;

function mergedOf(value: unknown): types.Merged | undefined {
  if (!isSet(value)) return undefined;
  const fields = fieldsOf(value, "a merged entry");
  return withoutAbsent<types.Merged>({
    fork: textOf(fields.fork, "a fork"),
    by: optionalText(fields.by, "who merged"),
    createdS: integerOf(fields.created_s, "a time"),
    position: integerOf(fields.position, "position"),
    through: integerOf(fields.through, "through"),
  });
}

function mutationOf(value: unknown): types.HistoryMutation {
  const fields = fieldsOf(value, "a mutation");
  return withoutAbsent<types.HistoryMutation>({
    id: integerOf(fields.id, "a mutation id"),
    base: integerOf(fields.base, "a base"),
    op: operationOf(fields.op),
    committed: isSet(fields.committed) ? listOf(fields.committed, "committed", operationOf) : undefined,
  });
}

function externalOf(value: unknown): { count: number; bytes: number } | undefined {
  if (!isSet(value)) return undefined;
  const fields = fieldsOf(value, "an external body");
  return { count: integerOf(fields.count, "count"), bytes: integerOf(fields.bytes, "bytes") };
}

function entryOf(value: unknown): types.HistoryEntry {
  const fields = fieldsOf(value, "an entry");
  return withoutAbsent<types.HistoryEntry>({
    position: integerOf(fields.position, "position"),
    kind: oneOf(fields.kind, ["snapshot", "endSegment", "edits"] as const, "the kind of an entry"),
    author: optionalText(fields.author, "an author"),
    createdS: integerOf(fields.created_s, "the time of an entry"),
    merged: mergedOf(fields.merged),
    mutations: optionalList(fields.mutations, "mutations", mutationOf),
    external: externalOf(fields.external_body),
  });
}

export function historyPageOf(value: unknown): types.HistoryPage {
  const fields = fieldsOf(value, "the history");
  const entries = listOf(fields.entries, "entries", entryOf);
  return withoutAbsent<types.HistoryPage>({ entries, next: optionalInteger(fields.next, "next") });
}

function contentOf(fields: Fields): types.CellContent {
  return withoutAbsent<types.CellContent>({
    value: cellValueOf(fields.value),
    formula: optionalText(fields.formula, "a formula"),
    format: optionalText(fields.format, "a format"),
  });
}

function cellOf(value: unknown): types.ReadCell {
  const fields = fieldsOf(value, "a cell");
  return withoutAbsent<types.ReadCell>({
    ...contentOf(fields),
    row: integerOf(fields.row, "row"),
    column: integerOf(fields.column, "column"),
    stale: fields.stale === true ? true : undefined,
  });
}

function cellDiffOf(value: unknown): types.CellDiff {
  const fields = fieldsOf(value, "the difference of a cell");
  return {
    row: integerOf(fields.row, "row"),
    column: integerOf(fields.column, "column"),
    before: contentOf(fieldsOf(fields.before, "the earlier cell")),
    after: contentOf(fieldsOf(fields.after, "the later cell")),
  };
}

const SPAN_CHANGES = ["rowsInserted", "columnsInserted", "rowsDeleted", "columnsDeleted"] as const;

function cellChangeOf(value: unknown): types.CellChange {
  if (value === "sheetAdded" || value === "sheetImported") return { kind: value };
  const fields = fieldsOf(value, "a change");
  if ("cell" in fields) return { kind: "cell", diff: cellDiffOf(fields.cell) };
  const kind = SPAN_CHANGES.find((name) => name in fields);
  if (kind === undefined) throw new MalformedReply("a change of cells has an unknown kind");
  return { kind, spans: spansOf(fields[kind]) };
}

function recoveryOf(value: unknown): types.Recovery {
  const fields = fieldsOf(value, "the recovery of a sheet");
  const by = "undo" in fields ? "undo" : "revert";
  return { by, position: integerOf(fields[by], "the position of a recovery") };
}

export function cellHistoryPageOf(value: unknown): types.CellHistoryPage {
  const fields = fieldsOf(value, "the history of cells");
  const changes = listOf(fields.changes, "changes", (item) => {
    const entry = fieldsOf(item, "a change");
    return withoutAbsent<types.CellHistoryEntry>({
      position: integerOf(entry.position, "position"),
      author: optionalText(entry.author, "an author"),
      createdS: integerOf(entry.created_s, "the time of a change"),
      merged: mergedOf(entry.merged),
      sheet: integerOf(entry.sheet, "sheet"),
      name: textOf(entry.name, "the name of a sheet"),
      change: cellChangeOf(entry.change),
      recovered: isSet(entry.recovered) ? recoveryOf(entry.recovered) : undefined,
    });
  });
  const isTruncated = fields.truncated === true;
  return withoutAbsent<types.CellHistoryPage>({ changes, isTruncated, next: optionalText(fields.next, "next") });
}

function axisDiffOf(value: unknown): types.AxisDiff {
  const fields = isSet(value) ? fieldsOf(value, "the difference of rows or columns") : {};
  return {
    inserted: isSet(fields.inserted) ? spansOf(fields.inserted) : [],
    deleted: isSet(fields.deleted) ? spansOf(fields.deleted) : [],
  };
}

function sheetDiffOf(value: unknown): types.SheetDiff {
  const fields = fieldsOf(value, "the difference of a sheet");
  return {
    sheet: integerOf(fields.sheet, "sheet"),
    name: textOf(fields.name, "the name of a sheet"),
    change: oneOf(fields.change, ["added", "deleted", "renamed", "kept"] as const, "the change of a sheet"),
    cells: listOf(fields.cells, "cells", cellDiffOf),
    deletedCells: optionalList(fields.deleted_cells, "deleted cells", cellOf),
    rows: axisDiffOf(fields.rows),
    columns: axisDiffOf(fields.columns),
    formatsChanged: fields.formats_changed === true,
  };
}

function nameDiffOf(value: unknown): types.NameDiff {
  const fields = fieldsOf(value, "the difference of a name");
  return withoutAbsent<types.NameDiff>({
    name: textOf(fields.name, "a name"),
    before: optionalText(fields.before, "the earlier formula"),
    after: optionalText(fields.after, "the later formula"),
  });
}

function orderDiffOf(value: unknown): types.OrderDiff {
  const fields = fieldsOf(value, "the order of sheets");
  const namesOf = (names: unknown) => listOf(names, "names of sheets", (name) => textOf(name, "the name of a sheet"));
  return { before: namesOf(fields.before), after: namesOf(fields.after) };
}

export function diffPageOf(value: unknown): types.DiffPage {
  const fields = fieldsOf(value, "the differences");
  return withoutAbsent<types.DiffPage>({
    from: integerOf(fields.from, "from"),
    to: integerOf(fields.to, "to"),
    sheets: listOf(fields.sheets, "sheets", sheetDiffOf),
    names: optionalList(fields.names, "names", nameDiffOf),
    order: isSet(fields.order) ? orderDiffOf(fields.order) : undefined,
    spansTruncated: fields.spans_truncated === true,
    next: optionalInteger(fields.next, "next"),
  });
}

function extentOf(value: unknown): types.Extent {
  const fields = fieldsOf(value, "an extent");
  return { rows: integerOf(fields.rows, "rows"), columns: integerOf(fields.columns, "columns") };
}

export function cellsPageOf(value: unknown): types.CellsPage {
  const fields = fieldsOf(value, "the cells");
  return withoutAbsent<types.CellsPage>({
    cells: listOf(fields.cells, "cells", cellOf),
    extent: extentOf(fields.extent),
    sheet: integerOf(fields.sheet, "sheet"),
    name: textOf(fields.name, "the name of a sheet"),
    position: integerOf(fields.position, "position"),
    next: optionalText(fields.next, "next"),
  });
}

export function sheetsAtOf(value: unknown): types.SheetsAt {
  const fields = fieldsOf(value, "the sheets");
  const sheets = listOf(fields.sheets, "sheets", (item) => {
    const sheet = fieldsOf(item, "a sheet");
    const name = textOf(sheet.name, "the name of a sheet");
    return { sheet: integerOf(sheet.sheet, "sheet"), name, extent: extentOf(sheet.extent) };
  });
  const position = integerOf(fields.position, "position");
  return { sheets, position, incarnation: integerOf(fields.incarnation, "incarnation") };
}

export function findPageOf(value: unknown): types.FindPage {
  const fields = fieldsOf(value, "the found cells");
  return withoutAbsent<types.FindPage>({
    cells: listOf(fields.cells, "cells", (item) => {
      const found = fieldsOf(item, "a found cell");
      const name = textOf(found.name, "the name of a sheet");
      return { ...cellOf(item), sheet: integerOf(found.sheet, "sheet"), name };
    }),
    count: integerOf(fields.count, "count"),
    staleCells: optionalInteger(fields.stale_cells, "the number of stale cells"),
    position: integerOf(fields.position, "position"),
    next: optionalText(fields.next, "next"),
  });
}

function sumOf(value: unknown): types.FilterPage["sum"] {
  if (!isSet(value)) return undefined;
  const fields = fieldsOf(value, "a sum");
  const parts = listOf(fields.parts, "the parts of a sum", (part) => {
    if (typeof part !== "number") throw new MalformedReply("a part of a sum is not a number");
    return part;
  });
  return { numbers: integerOf(fields.numbers, "numbers"), parts, tooLarge: fields.too_large === true };
}

export function filterPageOf(value: unknown): types.FilterPage {
  const fields = fieldsOf(value, "the filtered rows");
  return withoutAbsent<types.FilterPage>({
    cells: listOf(fields.cells, "cells", cellOf),
    rows: integerOf(fields.rows, "rows"),
    sheet: integerOf(fields.sheet, "sheet"),
    name: textOf(fields.name, "the name of a sheet"),
    position: integerOf(fields.position, "position"),
    sum: sumOf(fields.sum),
    next: optionalText(fields.next, "next"),
  });
}

function countsOf(value: unknown): types.ReversalCounts {
  const fields = fieldsOf(value, "the counts of a reversal");
  const count = (name: string) => optionalInteger(fields[name], `the number of ${name}`) ?? 0;
  return {
    cells: count("cells"),
    rows: count("rows"),
    columns: count("columns"),
    sheets: count("sheets"),
    names: count("names"),
    formats: count("formats"),
    definedNames: count("defined_names"),
    formulas: count("formulas"),
  };
}

function reversalOf(value: unknown): types.Reversal | undefined {
  if (!isSet(value)) return undefined;
  const fields = fieldsOf(value, "a reversal");
  const formulasIncomplete = fields.formulas_incomplete === true;
  return { restored: countsOf(fields.restored), left: countsOf(fields.left), formulasIncomplete };
}

type AppendedMutation = types.AppendResult["results"][number];

function rejectionOf(value: unknown): { reason: string; detail: string } | undefined {
  if (!isSet(value)) return undefined;
  const fields = fieldsOf(value, "a rejection");
  return { reason: textOf(fields.reason, "a reason"), detail: optionalText(fields.detail, "a detail") ?? "" };
}

export function appendResultOf(value: unknown): types.AppendResult {
  const fields = fieldsOf(value, "the result of an edit");
  const results = listOf(fields.results, "results", (item) => {
    const result = fieldsOf(item, "a result");
    const committed: Operation[] | undefined = isSet(result.committed)
      ? listOf(result.committed, "committed", operationOf)
      : undefined;
    return withoutAbsent<AppendedMutation>({
      id: integerOf(result.id, "a mutation id"),
      status: oneOf(result.status, ["appended", "duplicate", "rejected"] as const, "a status"),
      position: optionalInteger(result.position, "position"),
      committed,
      rejection: rejectionOf(result.rejection),
      reversal: reversalOf(result.reversal),
    });
  });
  return { head: integerOf(fields.head, "head"), results };
}

export function uploadGrantOf(value: unknown): types.UploadGrant {
  const fields = fieldsOf(value, "an upload");
  const headers = Object.entries(fieldsOf(fields.headers, "the headers of an upload"));
  return {
    uploadId: textOf(fields.upload_id, "the id of an upload"),
    url: textOf(fields.url, "the URL of an upload"),
    method: textOf(fields.method, "the method of an upload"),
    headers: Object.fromEntries(headers.map(([name, header]) => [name, textOf(header, "a header")])),
  };
}
