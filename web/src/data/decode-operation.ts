/** Decodes the operations and entries of a log. */

import { cellValueOf, fieldsOf, integerOf, listOf, MalformedReply, oneOf, optionalInteger, optionalList } from "./decode";
import { optionalText, textOf, withoutAbsent, type Fields } from "./decode";
import { MAX_COLUMNS, MAX_ROWS } from "./limits";
import type { CellEdit, Entry, Mutation, Operation, Span } from "./wire";

export function decodeSpans(value: unknown, limit: number): Span[] {
  const spans = listOf(value, "spans", (item) => {
    const fields = fieldsOf(item, "a span");
    const first = integerOf(fields.first, "the first of a span", limit);
    return { first, count: integerOf(fields.count, "the count of a span", limit) };
  });
  return joinSpans(spans, limit);
}

/** Sorts spans, joins those that touch, and drops empty ones and what is outside the sheet. */
export function joinSpans(spans: readonly Span[], limit: number): Span[] {
  const joined: Span[] = [];
  for (const { first, count } of [...spans].sort((left, right) => left.first - right.first)) {
    const end = Math.min(first + count, limit);
    const last = joined[joined.length - 1];
    if (end <= first) continue;
    if (last !== undefined && first <= last.first + last.count) {
      last.count = Math.max(last.first + last.count, end) - last.first;
    } else {
      joined.push({ first, count: end - first });
    }
  }
  return joined;
}

function decodeCellEdit(value: unknown): CellEdit {
  const fields = fieldsOf(value, "a cell edit");
  return withoutAbsent<CellEdit>({
    row: integerOf(fields.row, "a row", MAX_ROWS - 1),
    column: integerOf(fields.column, "a column", MAX_COLUMNS - 1),
    // A value of null clears the cell, whereas an absent one keeps it.
    value: "value" in fields ? cellValueOf(fields.value) : undefined,
    formula: optionalText(fields.formula, "a formula"),
    format: optionalText(fields.format, "a format"),
  });
}

function sheetOf(fields: Fields): number {
  return fields.sheet === undefined ? 0 : integerOf(fields.sheet, "a sheet");
}

function spansOrAll(value: unknown, limit: number): Span[] {
  return value === undefined ? [{ first: 0, count: limit }] : decodeSpans(value, limit);
}

/** Decodes an operation. An unknown one is not an error: the server may be newer. */
export function decodeOperation(value: unknown): Operation {
  const [name, body] = Object.entries(fieldsOf(value, "an operation"))[0] ?? ["", null];
  const fields = () => fieldsOf(body, name);
  switch (name) {
    case "setCells":
      return { kind: name, sheet: sheetOf(fields()), cells: listOf(fields().cells, name, decodeCellEdit) };
    case "clearRange": {
      const rows = spansOrAll(fields().rows, MAX_ROWS);
      return { kind: name, sheet: sheetOf(fields()), rows, columns: spansOrAll(fields().columns, MAX_COLUMNS) };
    }
    case "insertRows":
      return { kind: name, ...decodeInsertion(fields(), MAX_ROWS) };
    case "insertColumns":
      return { kind: name, ...decodeInsertion(fields(), MAX_COLUMNS) };
    case "deleteRows":
      return { kind: name, sheet: sheetOf(fields()), spans: decodeSpans(fields().spans, MAX_ROWS) };
    case "deleteColumns":
      return { kind: name, sheet: sheetOf(fields()), spans: decodeSpans(fields().spans, MAX_COLUMNS) };
    case "addSheet":
    case "importSheet":
      return withoutAbsent<Operation>({
        kind: name,
        sheet: sheetOf(fields()),
        name: textOf(fields().name, "the name of a sheet"),
        before: optionalInteger(fields().before, "a sheet"),
        replaces: optionalInteger(fields().replaces, "a sheet"),
      });
    case "renameSheet":
      return { kind: name, sheet: sheetOf(fields()), name: textOf(fields().name, "the name of a sheet") };
    case "deleteSheet":
      return { kind: name, sheet: sheetOf(fields()) };
    case "undo":
      return { kind: name, position: integerOf(fields().position, "a position") };
    case "rejected":
      return { kind: name, detail: optionalText(fields().detail, "a detail") ?? "" };
    default:
      return { kind: "other", name };
  }
}

function decodeInsertion(fields: Fields, limit: number) {
  const before = integerOf(fields.before, "a row or column", limit);
  return { sheet: sheetOf(fields), before, count: integerOf(fields.count, "a count", limit) };
}

function decodeMutation(value: unknown): Mutation {
  const fields = fieldsOf(value, "a mutation");
  const committed = fields.committed;
  return withoutAbsent<Mutation>({
    id: integerOf(fields.id, "a mutation id"),
    base: integerOf(fields.base, "a base"),
    op: decodeOperation(fields.op),
    committed: committed === undefined ? undefined : listOf(committed, "committed", decodeOperation),
  });
}

const KEY_PATTERN = /^[0-9a-f]{16}$/;

export function decodeEntry(value: unknown): Entry {
  const fields = fieldsOf(value, "an entry");
  const clientKey = optionalText(fields.client_key, "a client key");
  if (clientKey !== undefined && !KEY_PATTERN.test(clientKey)) {
    throw new MalformedReply(`the client key ${textOf(clientKey, "a key")} is not 16 hexadecimal digits`);
  }
  return withoutAbsent<Entry>({
    position: integerOf(fields.position, "a position"),
    kind: oneOf(fields.kind, ["snapshot", "endSegment", "edits"] as const, "the kind of an entry"),
    clientKey,
    author: optionalText(fields.author, "an author"),
    mutations: optionalList(fields.mutations, "mutations", decodeMutation),
    isExternal: fields.external_body !== undefined && fields.external_body !== null,
  });
}
