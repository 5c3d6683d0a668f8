/** Describes operations and entries in the words of `cellar history` (`client/src/describe.rs`), with names in plain quotes. */

import { cellName, columnName, MAX_COLUMNS, MAX_ROWS } from "../base/sheet";
import { positionText } from "../data/position";
import { displayText } from "../data/text";
import { count, grouped } from "./csv/errors";
import type { CellEdit, Operation, Span } from "./operations";
import { withPlainQuotes } from "./plain-text";
import type { CellContent, HistoryEntry, Reversal, ReversalCounts } from "./types";

const MAX_TEXT_CHARACTERS = 40;
/** Further phrases or spans are only counted. */
const MAX_LISTED = 4;

/** A text in one line, without characters that are invisible or change its direction. */
export function shorten(text: string): string {
  const characters = [...text];
  const start = characters.slice(0, MAX_TEXT_CHARACTERS).join("");
  return escaped(start) + (characters.length > MAX_TEXT_CHARACTERS ? "…" : "");
}

const UNSAFE =
  /[\p{Cc}\u00ad\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
const SHORT_ESCAPES: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function escaped(text: string): string {
  return text.replace(UNSAFE, (character) => {
    return SHORT_ESCAPES[character] ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

function quoted(name: string): string {
  return `"${shorten(name)}"`;
}

/** The names of sheets. A description names the sheet of cells if the spreadsheet has several. */
export class SheetNames {
  readonly #names: Map<number, string>;

  constructor(sheets: readonly { sheet: number; name: string }[] = []) {
    this.#names = new Map(sheets.map(({ sheet, name }) => [sheet, name]));
  }

  recordAdded(operation: Operation): void {
    if (operation.kind === "addSheet" || operation.kind === "importSheet") {
      this.#names.set(operation.sheet, operation.name);
    }
  }

  recordRenamedOrDeleted(operation: Operation): void {
    if (operation.kind === "renameSheet") this.#names.set(operation.sheet, operation.name);
    if (operation.kind === "deleteSheet") this.#names.delete(operation.sheet);
    if (operation.kind === "importSheet" && operation.replaces !== undefined) this.#names.delete(operation.replaces);
  }

  nameOrNumber(sheet: number): string {
    const name = this.#names.get(sheet);
    return name === undefined ? `number ${sheet}` : quoted(name);
  }

  /** The beginning of the name of cells, such as `Costs!`. */
  prefix(sheet: number): string {
    const name = this.#shown(sheet);
    return name === undefined ? "" : `${name}!`;
  }

  suffix(sheet: number): string {
    const name = this.#shown(sheet);
    return name === undefined ? "" : ` of sheet "${name}"`;
  }

  #shown(sheet: number): string | undefined {
    const name = this.#names.get(sheet);
    return this.#names.size > 1 && name !== undefined ? shorten(name) : undefined;
  }
}

/** All edits of single cells of a sheet are described together, and every other operation separately. */
export function describeOperations(operations: readonly Operation[], names: SheetNames): string {
  const edits = new Map<number, CellEdit[]>();
  const others: string[] = [];
  for (const operation of operations) {
    if (operation.kind === "setCells") {
      edits.set(operation.sheet, (edits.get(operation.sheet) ?? []).concat(operation.cells));
    } else others.push(describeOther(operation, names));
  }
  const sheets = [...edits].sort(([one], [other]) => one - other);
  const phrases = sheets.flatMap(([sheet, cells]) => describeEdits(cells, names.prefix(sheet)) ?? []).concat(others);
  return phrases.length === 0 ? "nothing" : joinFirst(phrases);
}

function describeOther(operation: Exclude<Operation, { kind: "setCells" }>, names: SheetNames): string {
  switch (operation.kind) {
    case "clearRange":
      return `cleared ${rangeName(operation)}${names.suffix(operation.sheet)}`;
    case "setFormat":
      return `${rangeName(operation)}${names.suffix(operation.sheet)} formatted as ${shorten(operation.format)}`;
    case "insertRows":
    case "insertColumns":
      return describeInsertion(operation) + names.suffix(operation.sheet);
    case "deleteRows":
      return `deleted ${rowList(operation.spans)}${names.suffix(operation.sheet)}`;
    case "deleteColumns":
      return `deleted ${columnList(operation.spans)}${names.suffix(operation.sheet)}`;
    case "addSheet":
      return `added sheet ${quoted(operation.name)}`;
    case "renameSheet":
      return `renamed sheet ${names.nameOrNumber(operation.sheet)} to ${quoted(operation.name)}`;
    case "deleteSheet":
      return `deleted sheet ${names.nameOrNumber(operation.sheet)}`;
    case "importSheet":
      return describeImport(operation, names);
    case "undo":
      return `undid ${positionText(operation.position)}`;
    case "revert":
      return describeRevert(operation, names);
    case "setName":
      return operation.formula === undefined
        ? `deleted name ${shorten(operation.name)}`
        : `named ${shorten(operation.formula)} ${shorten(operation.name)}`;
    case "rejected":
      return `rejected: ${withPlainQuotes(escaped(operation.detail))}`;
    case "unknown":
      return `made an edit of a newer kind (${shorten(operation.name)})`;
  }
}

function describeRevert({ position, sheet, rows, columns }: Extract<Operation, { kind: "revert" }>, names: SheetNames) {
  const at = positionText(position);
  if (sheet === undefined) return `reverted to ${at}`;
  const name = names.nameOrNumber(sheet);
  if (rows === undefined && columns === undefined) return `reverted sheet ${name} to ${at}`;
  const range = rangeName({
    ...(rows === undefined ? {} : { rows: [rows] }),
    ...(columns === undefined ? {} : { columns: [columns] }),
  });
  return `reverted ${range} of sheet ${name} to ${at}`;
}

type Insertion = Extract<Operation, { kind: "insertRows" | "insertColumns" }>;

/** Rows or columns beyond the largest sheet are not added. */
function describeInsertion({ kind, before, count: wanted }: Insertion): string {
  const isRows = kind === "insertRows";
  const inserted = Math.max(Math.min(wanted, (isRows ? MAX_ROWS : MAX_COLUMNS) - before), 0);
  return isRows
    ? `inserted ${count(inserted, "row", "rows")} before row ${before + 1}`
    : `inserted ${count(inserted, "column", "columns")} before column ${columnName(before)}`;
}

function describeImport({ name, cells, replaces }: Extract<Operation, { kind: "importSheet" }>, names: SheetNames): string {
  const addition = `imported sheet ${quoted(name)}, ${count(cells, "cell", "cells")}`;
  return replaces === undefined ? addition : `${addition}, replacing sheet ${names.nameOrNumber(replaces)}`;
}

interface RangeSpans {
  rows?: readonly Span[];
  columns?: readonly Span[];
}

function rangeName({ rows, columns }: RangeSpans): string {
  const hasAllRows = isAll(rows, MAX_ROWS);
  const hasAllColumns = isAll(columns, MAX_COLUMNS);
  if (hasAllRows) return hasAllColumns ? "all cells" : columnList(columns ?? []);
  if (hasAllColumns) return rowList(rows ?? []);
  const [row] = rows ?? [];
  const [column] = columns ?? [];
  if (rows?.length === 1 && columns?.length === 1 && row !== undefined && column !== undefined) {
    return rectangleName(row, column);
  }
  return `${rowList(rows ?? [])} of ${columnList(columns ?? [])}`;
}

function isAll(spans: readonly Span[] | undefined, length: number): boolean {
  return spans === undefined || (spans.length === 1 && spans[0]?.first === 0 && spans[0].count >= length);
}

function rectangleName(rows: Span, columns: Span): string {
  const first = cellName(rows.first, columns.first);
  const last = cellName(rows.first + rows.count - 1, columns.first + columns.count - 1);
  return first === last ? first : `${first}:${last}`;
}

/** Returns the names of rows, such as `row 3` or `rows 3:5, 9`. */
export function rowList(spans: readonly Span[]): string {
  return `${isSingle(spans) ? "row" : "rows"} ${listSpans(spans, (row) => String(row + 1))}`;
}

export function columnList(spans: readonly Span[]): string {
  return `${isSingle(spans) ? "column" : "columns"} ${listSpans(spans, columnName)}`;
}

function isSingle(spans: readonly Span[]): boolean {
  return spans.length === 1 && spans[0]?.count === 1;
}

function listSpans(spans: readonly Span[], nameOf: (index: number) => string): string {
  const names = spans.map(({ first, count: length }) => {
    return length === 1 ? nameOf(first) : `${nameOf(first)}:${nameOf(first + length - 1)}`;
  });
  return joinFirst(names);
}

function joinFirst(items: readonly string[]): string {
  const listed = items.slice(0, MAX_LISTED).join(", ");
  return items.length <= MAX_LISTED ? listed : `${listed} and ${grouped(items.length - MAX_LISTED)} more`;
}

function describeEdits(edits: readonly CellEdit[], prefix: string): string | undefined {
  const [first] = edits;
  if (first === undefined) return undefined;
  if (edits.length === 1) return prefix + describeEdit(first);
  const [rows, columns] = [spanOf(edits, "row"), spanOf(edits, "column")];
  if (edits.length > MAX_LISTED || rows.count * columns.count === edits.length) {
    return `${grouped(edits.length)} cells ${prefix}${rectangleName(rows, columns)}`;
  }
  const sorted = [...edits].sort((one, other) => one.row - other.row || one.column - other.column);
  const names = [...new Set(sorted.map(({ row, column }) => cellName(row, column)))];
  return `cells ${prefix}${names.join(", ")}`;
}

function spanOf(edits: readonly CellEdit[], axis: "row" | "column"): Span {
  let [first, last] = [Infinity, 0];
  for (const edit of edits) {
    first = Math.min(first, edit[axis]);
    last = Math.max(last, edit[axis]);
  }
  return { first, count: last - first + 1 };
}

function describeEdit({ row, column, value, formula, format }: CellEdit): string {
  const name = cellName(row, column);
  if (formula !== undefined) return `${name} ${shorten(formula)}`;
  if (value === null) return `${name} cleared`;
  if (typeof value === "string") return `${name} = "${shorten(value)}"`;
  if (value !== undefined) return `${name} = ${shorten(displayText(value, format))}`;
  return format === undefined ? `${name} unchanged` : `${name} formatted as ${shorten(format)}`;
}

/** `names` are those before the entry, and afterwards those after it. Describe the oldest entry first. */
export function describeEntry(entry: HistoryEntry, names: SheetNames): string {
  const { external, mutations } = entry;
  if (external !== undefined) {
    const edits = count(external.count, "large edit", "large edits");
    return `${edits}, ${count(external.bytes, "byte", "bytes")} stored separately`;
  }
  if (entry.kind !== "edits") return "created";
  const refusal = describeRefusal(entry, names);
  if (refusal !== undefined) return refusal;
  const committed = mutations.flatMap((mutation) => mutation.committed ?? [mutation.op]);
  // Added sheets have their new names, and renamed sheets their old names.
  for (const operation of committed) names.recordAdded(operation);
  const authored = describeOperations(mutations.map((mutation) => mutation.op), names);
  const isAsAuthored = mutations.every(isCommittedAsAuthored);
  const description = isAsAuthored ? authored : `${authored} (as: ${describeOperations(committed, names)})`;
  for (const operation of committed) names.recordRenamedOrDeleted(operation);
  return description;
}

/** Formulas and names may have followed an import that replaced their sheet. */
function isCommittedAsAuthored({ op, committed }: HistoryEntry["mutations"][number]): boolean {
  if (committed === undefined) return true;
  const [first] = committed;
  return op.kind === "importSheet" && first?.kind === "importSheet" && first.sheet === op.sheet;
}

function describeRefusal({ mutations }: HistoryEntry, names: SheetNames): string | undefined {
  const details: string[] = [];
  for (const { committed } of mutations) {
    const [only, ...others] = committed ?? [];
    if (only?.kind !== "rejected" || others.length > 0) return undefined;
    details.push(withPlainQuotes(escaped(only.detail)));
  }
  const [first] = mutations;
  if (details[0] === undefined || first === undefined) return undefined;
  const { op } = first;
  const isSingleReversal = mutations.length === 1 && (op.kind === "undo" || op.kind === "revert");
  const requested = isSingleReversal
    ? `${op.kind === "undo" ? "undo of" : "revert to"} ${positionText(op.position)}`
    : describeOperations(mutations.map((mutation) => mutation.op), names);
  return `refused: ${requested} (${details[0]})`;
}

/** The history shows entries with edits, and the one that created the spreadsheet. */
export function isShownInHistory({ kind, position }: HistoryEntry): boolean {
  return kind === "edits" || position === 0;
}

/** Returns why an entry cannot be undone, or undefined. */
export function whyNotUndoable(entry: HistoryEntry): string | undefined {
  if (entry.kind !== "edits") return "The spreadsheet was created here.";
  if (entry.external !== undefined) return undefined;
  const committed = entry.mutations.flatMap((mutation) => mutation.committed ?? [mutation.op]);
  if (committed.some((operation) => operation.kind !== "rejected")) return undefined;
  return committed.length === 0 ? "The edit had no effect." : "The edit was rejected and had no effect.";
}

/** Describes contents before and after a change. */
export function describeChange(before: CellContent, after: CellContent): [string, string] {
  const texts: [string, string] = [describeContent(before), describeContent(after)];
  if (texts[0] !== texts[1]) return texts;
  const withFormat = ({ format = "General" }: CellContent, text: string) => `${text} formatted as ${escaped(format)}`;
  return [withFormat(before, texts[0]), withFormat(after, texts[1])];
}

export function describeContent({ value, formula, format }: CellContent): string {
  const text = typeof value === "string" ? `"${shorten(value)}"` : value === null ? "empty" : shorten(displayText(value, format, formula !== undefined));
  if (formula === undefined) return text;
  return value === null ? shorten(formula) : `${shorten(formula)} (${text})`;
}

const NOUNS: [keyof ReversalCounts, string, string][] = [
  ["cells", "cell", "cells"],
  ["rows", "row", "rows"],
  ["columns", "column", "columns"],
  ["sheets", "sheet", "sheets"],
  ["names", "sheet name", "sheet names"],
  ["formats", "format of a range", "formats of ranges"],
  ["definedNames", "name", "names"],
  ["formulas", "formula", "formulas"],
];

export function describeCounts(counts: ReversalCounts): string {
  const present = NOUNS.filter(([key]) => counts[key] > 0);
  return present.length === 0 ? "nothing" : present.map(([key, one, many]) => count(counts[key], one, many)).join(", ");
}

/** Says what a reversal did, one sentence each. */
export function describeReversal({ restored, left, formulasIncomplete }: Reversal): string[] {
  const sentences = [`Took back: ${describeCounts(restored)}.`];
  const leftText = describeCounts(left);
  if (leftText !== "nothing") sentences.push(`Left, because they were changed since: ${leftText}.`);
  if (formulasIncomplete) {
    sentences.push(
      "Too many formulas refer to the recovered cells: some of them may still have lost references.",
    );
  }
  return sentences;
}
