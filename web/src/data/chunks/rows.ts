/** Rows(form, anchor, limit) of the chunk format. */

import type { ByteReader } from "./byte-reader";
import { atMost, malformed } from "./format-error";
import { readCounts } from "./integers";

export interface RowsOptions {
  form: number;
  anchor: number;
  /** Rows are below it. */
  limit: number;
  /** How many rows the tile may still have. */
  maxCount: number;
}

/** Returns ascending rows, at least one. */
export function readRows(reader: ByteReader, options: RowsOptions): Uint32Array {
  const { form, anchor, limit, maxCount } = options;
  const distance = reader.signed();
  const first = typeof distance === "bigint" ? -1 : anchor + distance;
  if (first < 0 || first >= limit) throw malformed(`the first row is not from 0 to ${limit - 1}`);
  if (form === 0) return Uint32Array.of(first);
  const count = atMost(reader.count(), maxCount, "the number of cells of a tile");
  if (count === 0) throw malformed("a list of rows is empty");
  if (form === 1) return run(first, count, limit);
  if (form === 2) return bitmap(reader, first, count, limit);
  return gaps(reader, first, count, limit);
}

function run(first: number, count: number, limit: number): Uint32Array {
  if (first + count > limit) throw outside(first + count - 1, limit);
  return Uint32Array.from({ length: count }, (_, index) => first + index);
}

function bitmap(reader: ByteReader, first: number, count: number, limit: number): Uint32Array {
  const bytes = reader.bytes(reader.count());
  const rows = new Uint32Array(count);
  let found = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    for (let bit = 0; byte >> bit !== 0; bit += 1) {
      if (((byte >> bit) & 1) === 0) continue;
      const row = first + index * 8 + bit;
      if (row >= limit) throw outside(row, limit);
      if (found === count) throw malformed(`a bitmap has more than ${count} rows`);
      rows[found] = row;
      found += 1;
    }
  }
  if (found !== count) throw malformed(`a bitmap has ${found} rows instead of ${count}`);
  return rows;
}

function gaps(reader: ByteReader, first: number, count: number, limit: number): Uint32Array {
  const rows = new Uint32Array(count);
  let row = first;
  rows[0] = row;
  readCounts(reader, count - 1, limit).forEach((gap, index) => {
    row += 1 + gap;
    if (row >= limit) throw outside(row, limit);
    rows[index + 1] = row;
  });
  return rows;
}

function outside(row: number, limit: number) {
  return malformed(`row ${row} is outside: the limit is ${limit}`);
}
