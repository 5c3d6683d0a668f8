/** The parts of indexes and roots: spans, chunks, axis maps, areas and moves. */

import * as bounds from "./bounds";
import { MAX_COLUMNS, MAX_ROWS } from "./bounds";
import type { CborReader } from "./cbor";
import { atMost, FormatError, malformed } from "./format-error";
import { hexadecimal } from "./hash";


/** Consecutive rows, columns or numbers of sheets. */
export interface Span {
  first: number;
  count: number;
}

export interface ChunkRef {
  hash: string;
  /** As stored, compressed. */
  bytes: number;
}

/** Consecutive rows or columns of the older space that are consecutive in the newer one. */
export interface Run {
  src: number;
  dst: number;
  len: number;
}

/** Cells whose older values or formats are hidden. */
export interface Region {
  rows: Span[];
  columns: Span[];
}

/** Deleted lines of the older space, and where ranges start and end that ended with them. */
export interface LineEnds extends Span {
  start: number;
  end: number;
}

/** How a level moves and hides the cells of older levels of a sheet. */
export interface Moves {
  rows: Run[];
  columns: Run[];
  valueClears: Region[];
  formatClears: Region[];
  rowEnds: LineEnds[];
  columnEnds: LineEnds[];
}

/** Reads parts, and notes whether one of them needs version 2. */
export class PartReader {
  /** Whether there was a part that only version 2 has. */
  hasVersion2 = false;

  constructor(readonly cbor: CborReader) {}

  chunk(): ChunkRef {
    this.cbor.arrayOf(2);
    const hash = this.cbor.bytes();
    if (hash.length !== 32) throw malformed(`a hash has ${hash.length} bytes`);
    const bytes = this.cbor.integer(bounds.MAX_STORED_CHUNK_BYTES);
    if (bytes === 0) throw malformed("a chunk has no bytes");
    return { hash: hexadecimal(hash), bytes };
  }

  /** Reads an array whose first item is the number of a variant. */
  variant<T>(readers: readonly (() => T)[]): T {
    this.cbor.arrayOf(2);
    const number = this.cbor.integer(readers.length - 1);
    const read = readers[number];
    if (read === undefined) throw malformed(`the variant ${number} is not known`);
    return read();
  }

  spans(limit: number, maxSpans: number): Span[] {
    const numbers = this.cbor.integers(limit);
    if (numbers.length % 2 !== 0) throw malformed("spans have a gap without a count");
    atMost(numbers.length / 2, maxSpans, "the number of spans");
    let end = 0;
    const spans: Span[] = [];
    for (let index = 0; index < numbers.length; index += 2) {
      const [gap = 0, count = 0] = numbers.slice(index, index + 2);
      if (count === 0 || (gap === 0 && index > 0)) throw malformed("spans are empty or not joined");
      spans.push({ first: end + gap, count });
      end += gap + count;
      if (end > limit) throw malformed(`spans end after ${limit}`);
    }
    return spans;
  }

  axisMap(limit: number): Run[] {
    let [src, dst] = [0, 0];
    return this.cbor.list(bounds.MAX_AXIS_RUNS, () => {
      this.cbor.arrayOf(3);
      src += this.cbor.integer(limit);
      dst += this.cbor.integer(limit);
      const length = this.cbor.integer(limit);
      const len = length === 0 ? limit - Math.max(src, dst) : length;
      const isInside = len > 0 && Math.max(src, dst) + len <= limit;
      if (!isInside) throw malformed("a run of an axis map ends after its axis");
      const run = { src, dst, len };
      src += len;
      dst += len;
      return run;
    });
  }

  moves(): Moves {
    const moves: Partial<Moves> = {};
    this.cbor.map({
      0: () => (moves.rows = this.axisMap(MAX_ROWS)),
      1: () => (moves.columns = this.axisMap(MAX_COLUMNS)),
      2: () => (moves.valueClears = this.#regions()),
      3: () => (moves.formatClears = this.#regions()),
      4: () => (moves.rowEnds = this.#ends(MAX_ROWS)),
      5: () => (moves.columnEnds = this.#ends(MAX_COLUMNS)),
    });
    const { rows, columns, valueClears, formatClears } = moves;
    if (!rows || !columns || !valueClears || !formatClears) throw malformed("moves have no axis map or regions");
    const spanCount = [...valueClears, ...formatClears].reduce((sum, region) => sum + spansOf(region), 0);
    atMost(spanCount, bounds.MAX_REGION_SPANS, "the number of spans of hidden regions");
    const { rowEnds = [], columnEnds = [] } = moves;
    requireDeleted(rowEnds, rows);
    requireDeleted(columnEnds, columns);
    return { rows, columns, valueClears, formatClears, rowEnds, columnEnds };
  }

  #regions(): Region[] {
    return this.cbor.list(bounds.MAX_REGION_SPANS, () => {
      this.cbor.arrayOf(2);
      const rows = this.spans(MAX_ROWS, bounds.MAX_REGION_SPANS);
      const columns = this.spans(MAX_COLUMNS, bounds.MAX_REGION_SPANS);
      if (rows.length === 0 || columns.length === 0) throw malformed("a hidden region is empty");
      return { rows, columns };
    });
  }

  #ends(limit: number): LineEnds[] {
    this.hasVersion2 = true;
    const numbers = this.cbor.integers(limit);
    if (numbers.length % 4 !== 0 || numbers.length === 0) throw malformed(`${numbers.length} numbers are no ends of ranges`);
    atMost(numbers.length / 4, bounds.MAX_LINE_ENDS, "the number of ends of ranges");
    let next = 0;
    const ends: LineEnds[] = [];
    for (let index = 0; index < numbers.length; index += 4) {
      const [gap = 0, count = 0, start = 0, end = 0] = numbers.slice(index, index + 4);
      if (count === 0 || next + gap + count > limit) throw malformed("the end of a range is empty or outside of its axis");
      ends.push({ first: next + gap, count, start, end });
      next += gap + count;
    }
    return ends;
  }
}

function spansOf({ rows, columns }: Region): number {
  return rows.length + columns.length;
}

/** Ends of ranges are stored for deleted lines only, which no run contains. */
function requireDeleted(ends: readonly LineEnds[], runs: readonly Run[]): void {
  let index = 0;
  for (const { first, count } of ends) {
    for (let run = runs[index]; run !== undefined && run.src + run.len <= first; run = runs[index]) index += 1;
    if ((runs[index]?.src ?? Infinity) < first + count) throw malformed("an end of a range is of a line that was not deleted");
  }
}

/** Throws unless the version is the one that the content needs. */
export function requireVersion(version: number, hasVersion2: boolean): void {
  if (version !== (hasVersion2 ? 2 : 1)) {
    throw new FormatError("version", `an object of version ${version} has fields of another version`);
  }
}
