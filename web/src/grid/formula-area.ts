import type { Range } from "../data/types";
import { columnIndex } from "./address";
import { MAX_COLUMNS, MAX_ROWS } from "./limits";

/** A row or column of a reference. `$` makes it absolute. */
export interface Coordinate {
  index: number;
  isAbsolute: boolean;
}

/** The ends of an area in the order in which they are written. `null` means the whole row or column. */
export interface Area {
  rows: readonly [Coordinate, Coordinate] | null;
  columns: readonly [Coordinate, Coordinate] | null;
  isRange: boolean;
}

export interface AreaText {
  area: Area;
  length: number;
}

/** One side of the `:` in a range. */
interface Part {
  row: Coordinate | null;
  column: Coordinate | null;
}

const WORD = /[\p{Alphabetic}\p{N}_.$\\?]+/uy;
const PART = /^(\$?)(?:([A-Za-z]+)(?:(\$?)(\d+))?|(\d+))$/;
const COLON = /[ \t\n\r]*:[ \t\n\r]*/y;

/** Returns what a sticky expression matches at a place, or "". */
export function matchAt(expression: RegExp, text: string, at: number): string {
  expression.lastIndex = at;
  return expression.exec(text)?.[0] ?? "";
}

export function wordAt(text: string, at: number): string {
  return matchAt(WORD, text, at);
}

/**
 * Returns the cell, range, whole rows or whole columns at a place of a formula, by the rules of the server's parser
 * (`core/formula/src/syntax/area.rs`).
 */
export function areaAt(text: string, at: number): AreaText | null {
  const first = partAt(text, at);
  if (!first) return null;
  const afterFirst = at + first.length;
  const colon = matchAt(COLON, text, afterFirst);
  const last = colon ? partAt(text, afterFirst + colon.length) : null;
  const range = last && join(first.part, last.part);
  if (range) return { area: range, length: first.length + colon.length + last.length };
  const { row, column } = first.part;
  if (!row || !column) return null;
  return { area: { rows: [row, row], columns: [column, column], isRange: false }, length: first.length };
}

function partAt(text: string, at: number): { part: Part; length: number } | null {
  const word = wordAt(text, at);
  // A word before one of these is the name of a function, sheet or table.
  if (word === "" || "(![".includes(text[at + word.length] ?? " ")) return null;
  const part = parsePart(word);
  return part && { part, length: word.length };
}

function parsePart(word: string): Part | null {
  const match = PART.exec(word);
  if (!match) return null;
  const [, dollar = "", letters, secondDollar = "", digits, rowDigits] = match;
  if (letters === undefined) {
    const row = coordinate(Number(rowDigits) - 1, MAX_ROWS, dollar);
    return row && { row, column: null };
  }
  const column = coordinate(columnIndex(letters.toUpperCase()), MAX_COLUMNS, dollar);
  if (!column || digits === undefined) return column && { row: null, column };
  const row = coordinate(Number(digits) - 1, MAX_ROWS, secondDollar);
  return row && { row, column };
}

function coordinate(index: number, count: number, dollar: string): Coordinate | null {
  return index >= 0 && index < count ? { index, isAbsolute: dollar !== "" } : null;
}

function join(first: Part, last: Part): Area | null {
  if (!first.row !== !last.row || !first.column !== !last.column) return null;
  return {
    rows: first.row && last.row && [first.row, last.row],
    columns: first.column && last.column && [first.column, last.column],
    isRange: true,
  };
}

/** Returns the cells of an area. Whole rows and columns extend to the end of the largest sheet. */
export function areaRange(area: Area): Range {
  const [firstRow, rowCount] = span(area.rows, MAX_ROWS);
  const [firstColumn, columnCount] = span(area.columns, MAX_COLUMNS);
  return { firstRow, rowCount, firstColumn, columnCount };
}

function span(ends: Area["rows"], whole: number): [number, number] {
  if (!ends) return [0, whole];
  const [one, other] = ends;
  return [Math.min(one.index, other.index), Math.abs(one.index - other.index) + 1];
}
