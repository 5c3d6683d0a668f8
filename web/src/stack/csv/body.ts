/**
 * Encodes cells as the object of a large entry (`core/log/src/entry/external.rs`): operations in
 * postcard, in a zstd frame of blocks that are not compressed, because browsers cannot compress zstd.
 */

import { generalText } from "../../data/text";
import type { CellValue } from "../../data/types";
import type { FileCell } from "./csv-file";

export const MAX_CELLS_PER_OPERATION = 10_000;

const OBJECT_VERSION = 1;

/** Bytes in postcard: numbers of variable length, and texts with their length. */
class Bytes {
  #bytes = new Uint8Array(64 * 1024);
  #length = 0;
  static readonly #encoder = new TextEncoder();

  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length] = value;
    this.#length += 1;
  }

  /** A number below 2⁵⁴. */
  unsigned(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.byte((rest % 0x80) + 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.byte(rest);
  }

  /** An integer of at most 2⁵². */
  signed(value: number): void {
    this.unsigned(value < 0 ? -2 * value - 1 : 2 * value);
  }

  double(value: number): void {
    const SIZE = 8;
    this.#reserve(SIZE);
    new DataView(this.#bytes.buffer).setFloat64(this.#length, value, true);
    this.#length += SIZE;
  }

  text(text: string): void {
    this.raw(Bytes.#encoder.encode(text), true);
  }

  raw(bytes: Uint8Array, withLength = false): void {
    if (withLength) this.unsigned(bytes.length);
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.written);
    this.#bytes = grown;
  }
}

/** Numbers of the variants of `StoredCell` and `StoredValue`. */
const EMPTY = 0;
const INTEGER = 1;
const DECIMAL = 2;
const NUMBER = 3;
const TEXT = 4;
const FALSE = 5;
const TRUE = 6;
const FORMATTED = 9;

const MAX_INTEGER = 2 ** 52;
const MAX_DECIMAL_DIGITS = 2 ** 40;

function writeValue(bytes: Bytes, value: CellValue): void {
  if (typeof value === "string") {
    bytes.byte(TEXT);
    bytes.text(value);
  } else if (typeof value === "boolean") bytes.byte(value ? TRUE : FALSE);
  else if (typeof value === "number") writeNumber(bytes, value);
  else bytes.byte(EMPTY);
}

function writeNumber(bytes: Bytes, value: number): void {
  if (Number.isInteger(value) && Math.abs(value) <= MAX_INTEGER && !Object.is(value, -0)) {
    bytes.byte(INTEGER);
    bytes.signed(value);
    return;
  }
  const [whole = "", decimals] = generalText(value).split(".");
  const digits = Number(whole + (decimals ?? ""));
  const isShort = decimals !== undefined && /^\d+$/.test(decimals) && Math.abs(digits) < MAX_DECIMAL_DIGITS;
  if (isShort && Object.is(Number(`${digits}e-${decimals.length}`), value)) {
    bytes.byte(DECIMAL);
    bytes.byte(decimals.length);
    bytes.signed(digits);
    return;
  }
  bytes.byte(NUMBER);
  bytes.double(value);
}

/** Writes the cells of one operation: runs of adjacent cells in a row. */
function writeOperation(bytes: Bytes, sheet: number, cells: readonly FileCell[]): void {
  const SET_CELLS = 0;
  const formats = new Map<string, number>();
  for (const { format } of cells) {
    if (format !== undefined && !formats.has(format)) formats.set(format, formats.size + 1);
  }
  const runs = runsOf(cells);
  bytes.unsigned(SET_CELLS);
  bytes.unsigned(sheet);
  bytes.unsigned(formats.size);
  for (const format of formats.keys()) bytes.text(format);
  bytes.unsigned(runs.length);
  let previousRow = 0;
  for (const run of runs) {
    const { row = 0, column = 0 } = run[0] ?? {};
    bytes.unsigned(row - previousRow);
    bytes.unsigned(column);
    bytes.unsigned(run.length);
    for (const { value, format } of run) {
      if (format !== undefined) {
        bytes.byte(FORMATTED);
        bytes.unsigned(formats.get(format) ?? 0);
      }
      writeValue(bytes, value);
    }
    previousRow = row;
  }
}

function runsOf(cells: readonly FileCell[]): FileCell[][] {
  const runs: FileCell[][] = [];
  let previous: FileCell | undefined;
  for (const cell of cells) {
    const extendsRun = previous?.row === cell.row && previous.column + 1 === cell.column;
    if (extendsRun) runs.at(-1)?.push(cell);
    else runs.push([cell]);
    previous = cell;
  }
  return runs;
}

export interface Body {
  object: Uint8Array<ArrayBuffer>;
  /** Number of mutations. */
  count: number;
}

/** The cells must be sorted by row and column. An object has at most 200,000 cells and 8 MiB. */
export function encodeBody(sheet: number, cells: readonly FileCell[]): Body {
  const operations: (readonly FileCell[])[] = [];
  for (let first = 0; first < cells.length; first += MAX_CELLS_PER_OPERATION) {
    operations.push(cells.slice(first, first + MAX_CELLS_PER_OPERATION));
  }
  const bytes = new Bytes();
  bytes.unsigned(operations.length);
  for (const operation of operations) writeOperation(bytes, sheet, operation);
  return { object: inObject(bytes.written), count: operations.length };
}

function inObject(content: Uint8Array): Uint8Array<ArrayBuffer> {
  const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
  // One segment, whose size has four bytes.
  const DESCRIPTOR = 0xa0;
  const BLOCK_BYTES = 128 * 1024;
  const HEADER_BYTES = 1 + MAGIC.length + 1 + 4;
  const blocks = Math.max(Math.ceil(content.length / BLOCK_BYTES), 1);
  const object = new Uint8Array(HEADER_BYTES + blocks * 3 + content.length);
  object.set([OBJECT_VERSION, ...MAGIC, DESCRIPTOR]);
  new DataView(object.buffer).setUint32(HEADER_BYTES - 4, content.length, true);
  let at = HEADER_BYTES;
  for (let block = 0; block < blocks; block += 1) {
    const part = content.subarray(block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES);
    // Bit 0 marks the last block; the type of blocks that are not compressed is 0.
    const header = part.length * 8 + (block === blocks - 1 ? 1 : 0);
    object.set([header & 0xff, (header >> 8) & 0xff, header >> 16], at);
    object.set(part, at + 3);
    at += 3 + part.length;
  }
  return object;
}
