/** The operations of entries, decoded so far as the history describes them. */

import { cellValueOf, fieldsOf, integerOf, listOf, optionalInteger, optionalText, textOf } from "../data/decode";
import { withoutAbsent, type Fields } from "../data/decode";
import type { CellValue } from "../data/types";

export interface Span {
  first: number;
  count: number;
}

/** An edit of one cell. Absent fields stay as they are. */
export interface CellEdit {
  row: number;
  column: number;
  value?: CellValue;
  formula?: string;
  format?: string;
}

/** Absent spans stand for all rows or columns. */
interface CellRange {
  sheet: number;
  rows?: Span[];
  columns?: Span[];
}

export type Operation =
  | { kind: "setCells"; sheet: number; cells: CellEdit[] }
  | ({ kind: "clearRange" } & CellRange)
  | ({ kind: "setFormat"; format: string } & CellRange)
  | { kind: "insertRows" | "insertColumns"; sheet: number; before: number; count: number }
  | { kind: "deleteRows" | "deleteColumns"; sheet: number; spans: Span[] }
  | { kind: "addSheet" | "renameSheet"; sheet: number; name: string }
  | { kind: "deleteSheet"; sheet: number }
  | { kind: "importSheet"; sheet: number; name: string; cells: number; replaces?: number }
  | { kind: "undo"; position: number }
  | { kind: "revert"; position: number; sheet?: number; rows?: Span; columns?: Span }
  | { kind: "setName"; name: string; formula?: string }
  | { kind: "rejected"; reason: string; detail: string }
  | { kind: "unknown"; name: string };

function spanOf(value: unknown): Span {
  const fields = fieldsOf(value, "a span");
  return { first: integerOf(fields.first, "first"), count: integerOf(fields.count, "count") };
}

export function spansOf(value: unknown): Span[] {
  return listOf(value, "spans", spanOf);
}

function optionalSpans(value: unknown): Span[] | undefined {
  return value === undefined || value === null ? undefined : spansOf(value);
}

function optionalSpan(value: unknown): Span | undefined {
  return value === undefined || value === null ? undefined : spanOf(value);
}

function cellEditOf(value: unknown): CellEdit {
  const fields = fieldsOf(value, "an edit of a cell");
  return withoutAbsent<CellEdit>({
    row: integerOf(fields.row, "row"),
    column: integerOf(fields.column, "column"),
    // Null clears the value, and an absent field keeps it.
    value: "value" in fields ? cellValueOf(fields.value) : undefined,
    formula: optionalText(fields.formula, "formula"),
    format: optionalText(fields.format, "format"),
  });
}

type Decoder = (fields: Fields, sheet: number) => Operation;

const range = (fields: Fields, sheet: number): CellRange =>
  withoutAbsent<CellRange>({ sheet, rows: optionalSpans(fields.rows), columns: optionalSpans(fields.columns) });
const insertion = (kind: "insertRows" | "insertColumns"): Decoder => (fields, sheet) => ({
  kind,
  sheet,
  before: integerOf(fields.before, "before"),
  count: integerOf(fields.count, "count"),
});
const deletion = (kind: "deleteRows" | "deleteColumns"): Decoder => (fields, sheet) => ({
  kind,
  sheet,
  spans: spansOf(fields.spans),
});
const naming = (kind: "addSheet" | "renameSheet"): Decoder => (fields, sheet) => ({
  kind,
  sheet,
  name: textOf(fields.name, "the name of a sheet"),
});

const DECODERS: Record<string, Decoder> = {
  setCells: (fields, sheet) => ({ kind: "setCells", sheet, cells: listOf(fields.cells, "cells", cellEditOf) }),
  clearRange: (fields, sheet) => ({ kind: "clearRange", ...range(fields, sheet) }),
  setFormat: (fields, sheet) => ({ kind: "setFormat", format: textOf(fields.format, "format"), ...range(fields, sheet) }),
  insertRows: insertion("insertRows"),
  insertColumns: insertion("insertColumns"),
  deleteRows: deletion("deleteRows"),
  deleteColumns: deletion("deleteColumns"),
  addSheet: naming("addSheet"),
  renameSheet: naming("renameSheet"),
  deleteSheet: (_, sheet) => ({ kind: "deleteSheet", sheet }),
  importSheet: (fields, sheet) =>
    withoutAbsent<Extract<Operation, { kind: "importSheet" }>>({
      kind: "importSheet",
      sheet,
      name: textOf(fields.name, "the name of a sheet"),
      cells: integerOf(fields.cells, "the cells of an import"),
      replaces: optionalInteger(fields.replaces, "the replaced sheet"),
    }),
  undo: (fields) => ({ kind: "undo", position: integerOf(fields.position, "position") }),
  revert: (fields) =>
    withoutAbsent<Extract<Operation, { kind: "revert" }>>({
      kind: "revert",
      position: integerOf(fields.position, "position"),
      sheet: optionalInteger(fields.sheet, "sheet"),
      rows: optionalSpan(fields.rows),
      columns: optionalSpan(fields.columns),
    }),
  setName: (fields) =>
    withoutAbsent<Extract<Operation, { kind: "setName" }>>({
      kind: "setName",
      name: textOf(fields.name, "a name"),
      formula: optionalText(fields.formula, "formula"),
    }),
  rejected: (fields) => ({
    kind: "rejected",
    reason: textOf(fields.reason, "a reason"),
    detail: optionalText(fields.detail, "a detail") ?? "",
  }),
};

/** A newer server may send an operation that this page does not know. */
export function operationOf(value: unknown): Operation {
  const [name, content] = Object.entries(fieldsOf(value, "an operation"))[0] ?? ["nothing", {}];
  const decoder = DECODERS[name];
  if (decoder === undefined) return { kind: "unknown", name };
  const fields = fieldsOf(content, `the operation ${name}`);
  return decoder(fields, optionalInteger(fields.sheet, "sheet") ?? 0);
}
