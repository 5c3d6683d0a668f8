/** The values of a column of a tile. */

import { MAX_LONG_TEXT_BYTES, MAX_TILE_TEXT_BYTES } from "./bounds";
import type { ByteReader } from "./byte-reader";
import { malformed } from "./format-error";
import { hexadecimal } from "./hash";
import { readCounts } from "./integers";
import { readNumbers } from "./numbers";
import type { TextReader } from "./texts";

/** A text that is an object of its own. */
export interface LongText {
  preview: string;
  bytes: number;
  hash: string;
}

/** `null` hides an older value. */
export type TileValue = null | number | boolean | string | { error: string } | LongText;

const [EMPTY, NUMBER, BOOLEAN, ERROR, TEXT, LONG_TEXT, SEVERAL] = [1, 2, 3, 4, 5, 6, 7] as const;
const HASH_BYTES = 32;
const ERRORS = [
  "#NULL!",
  "#DIV/0!",
  "#VALUE!",
  "#REF!",
  "#NAME?",
  "#NUM!",
  "#N/A",
  "#GETTING_DATA",
  "#SPILL!",
  "#CONNECT!",
  "#BLOCKED!",
  "#CALC!",
  "#LOST!",
];

export function readValues(reader: ByteReader, texts: TextReader, kind: number, count: number): TileValue[] {
  if (kind === SEVERAL) return readSeveral(reader, texts, count);
  return readOneKind(reader, texts, kind, count);
}

function readOneKind(reader: ByteReader, texts: TextReader, kind: number, count: number): TileValue[] {
  switch (kind) {
    case EMPTY:
      return new Array<null>(count).fill(null);
    case NUMBER:
      return Array.from(readNumbers(reader, count));
    case BOOLEAN:
      return Array.from(readCounts(reader, count, 1), (value) => value === 1);
    case ERROR:
      return Array.from(readCounts(reader, count, 255), errorOf);
    case TEXT:
      return texts.texts(count, MAX_TILE_TEXT_BYTES);
    case LONG_TEXT:
      return readLongTexts(reader, texts, count);
    default:
      throw malformed(`${kind} is no kind of values`);
  }
}

function errorOf(code: number): { error: string } {
  const error = ERRORS[code - 1];
  if (error === undefined) throw malformed(`the error code ${code} is not known`);
  return { error };
}

function readLongTexts(reader: ByteReader, texts: TextReader, count: number): LongText[] {
  const previews = texts.texts(count, MAX_TILE_TEXT_BYTES);
  const lengths = readCounts(reader, count, 2 ** 32 - 1);
  const hashes = reader.bytes(count * HASH_BYTES);
  return previews.map((preview, index) => {
    const bytes = lengths[index] ?? 0;
    const isLong = bytes > MAX_TILE_TEXT_BYTES && bytes <= MAX_LONG_TEXT_BYTES;
    if (!isLong) throw malformed(`a long text has ${bytes} bytes`);
    const hash = hexadecimal(hashes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES));
    return { preview, bytes, hash };
  });
}

function readSeveral(reader: ByteReader, texts: TextReader, count: number): TileValue[] {
  const kinds = readKinds(reader, count);
  const values = new Array<TileValue>(count).fill(null);
  for (let kind: number = EMPTY; kind <= LONG_TEXT; kind += 1) {
    const places: number[] = [];
    kinds.forEach((other, index) => {
      if (other === kind) places.push(index);
    });
    if (places.length === 0) continue;
    const items = readOneKind(reader, texts, kind, places.length);
    places.forEach((place, index) => (values[place] = items[index] ?? null));
  }
  return values;
}

function readKinds(reader: ByteReader, count: number): Uint8Array {
  const how = reader.byte();
  if (how > 1) throw malformed(`${how} is no form of kinds`);
  const kinds = how === 1 ? Uint8Array.from(readCounts(reader, count, LONG_TEXT)) : readRuns(reader, count);
  if (kinds.includes(0)) throw malformed("a value has no kind");
  return kinds;
}

function readRuns(reader: ByteReader, count: number): Uint8Array {
  const runCount = reader.count();
  if (runCount > count) throw malformed(`${runCount} runs are more than ${count} values`);
  const runKinds = readCounts(reader, runCount, LONG_TEXT);
  const lengths = readCounts(reader, runCount, count);
  const kinds = new Uint8Array(count);
  let start = 0;
  lengths.forEach((length, run) => {
    if (start + length > count) throw malformed(`the runs of kinds have more than ${count} values`);
    kinds.fill(runKinds[run] ?? 0, start, start + length);
    start += length;
  });
  if (start !== count) throw malformed(`the runs of kinds have ${start} values instead of ${count}`);
  return kinds;
}
