/** Integers(n) and Counts(n, max) of the chunk format. `n` must be bounded by the caller. */

import type { ByteReader } from "./byte-reader";
import { FormatError, malformed } from "./format-error";

const MAX_INTEGER = Number.MAX_SAFE_INTEGER;
const BLOCK = 1_024;
const MAX_WIDTH = 56;
const MAX_PLANES = 7;
/** Of two integers below this, the sum is exact in a number. */
const EXACT = 2 ** 52;

/** Integers modulo 2⁶⁴: exact numbers if all are within ±(2⁵³ - 1). */
type Words = Float64Array | BigInt64Array;

export function readIntegers(reader: ByteReader, count: number): Float64Array {
  if (count === 0) return new Float64Array(0);
  if (count === 1) return Float64Array.of(toInteger(reader.signed()));
  const how = reader.byte();
  const [transform, layout] = [how & 3, how >> 2];
  if (transform > 2) throw malformed(`${transform} is no transform of integers`);
  const heads = Array.from({ length: transform }, () => reader.signed());
  const words = readLayout(reader, count - transform, layout);
  return transform === 0 ? checked(words) : summed(heads, words);
}

/** Reads integers from 0 to `max`. */
export function readCounts(reader: ByteReader, count: number, max: number): Float64Array {
  const counts = readIntegers(reader, count);
  for (const value of counts) {
    if (value < 0 || value > max) throw malformed(`the count ${value} is not from 0 to ${max}`);
  }
  return counts;
}

function toInteger(word: number | bigint): number {
  if (typeof word === "bigint") throw tooLarge(word);
  return word;
}

function tooLarge(value: number | bigint): FormatError {
  return malformed(`the integer ${value} exceeds 2^53 - 1`);
}

function checked(words: Words): Float64Array {
  if (words instanceof Float64Array) return words;
  return Float64Array.from(words, checkedBig);
}

function checkedNumber(value: number): number {
  if (Math.abs(value) > MAX_INTEGER) throw tooLarge(value);
  return value;
}

function checkedBig(value: bigint): number {
  const isExact = value <= MAX_INTEGER && value >= -MAX_INTEGER;
  if (!isExact) throw tooLarge(value);
  return Number(value);
}

function readLayout(reader: ByteReader, count: number, layout: number): Words {
  if (layout === 0) return constant(reader, count);
  if (layout === 1) return each(reader, count);
  if (layout === 2) return packed(reader, count);
  if (layout === 3) return planes(reader, count);
  throw malformed(`${layout} is no layout of integers`);
}

function constant(reader: ByteReader, count: number): Words {
  if (count === 0) return new Float64Array(0);
  const value = reader.signed();
  if (typeof value === "number") return new Float64Array(count).fill(value);
  return new BigInt64Array(count).fill(value);
}

function each(reader: ByteReader, count: number): Words {
  if (count > reader.remaining) throw malformed("the bytes end too early");
  let words: Words = new Float64Array(count);
  for (let index = 0; index < count; index += 1) words = store(words, index, reader.signed());
  return words;
}

/** Sets an item, and returns a list of the other type if the value needs it. */
function store(words: Words, index: number, value: number | bigint): Words {
  if (words instanceof BigInt64Array) {
    words[index] = BigInt(value);
    return words;
  }
  if (typeof value === "number") {
    words[index] = value;
    return words;
  }
  const large = BigInt64Array.from(words, BigInt);
  large[index] = value;
  return large;
}

function packed(reader: ByteReader, count: number): Words {
  let words: Words = new Float64Array(count);
  for (let start = 0; start < count; start += BLOCK) {
    const size = Math.min(BLOCK, count - start);
    const min = reader.signed();
    const width = reader.byte();
    if (width > MAX_WIDTH) throw malformed(`${width} bits are too many for an integer`);
    const bits = reader.bytes(Math.ceil((size * width) / 8));
    for (let index = 0; index < size; index += 1) {
      words = store(words, start + index, sum(min, bitsAt(bits, index * width, width)));
    }
  }
  return words;
}

/** Returns up to 56 bits, as a bigint if they may be inexact in a number. */
function bitsAt(bytes: Uint8Array, start: number, width: number): number | bigint {
  const first = start >> 3;
  let skip = start & 7;
  let value = 0;
  let factor = 1;
  let big = 0n;
  const isLarge = width > 52;
  for (let index = first, read = 0; read < width; index += 1) {
    const taken = Math.min(8 - skip, width - read);
    const part = ((bytes[index] ?? 0) >> skip) & ((1 << taken) - 1);
    if (isLarge) big |= BigInt(part) << BigInt(read);
    else value += part * factor;
    factor *= 2 ** taken;
    read += taken;
    skip = 0;
  }
  return isLarge ? big : value;
}

/** Adds modulo 2⁶⁴. */
function sum(left: number | bigint, right: number | bigint): number | bigint {
  const isExact = typeof left === "number" && typeof right === "number" && Math.abs(left) < EXACT && right < EXACT;
  if (isExact) return left + right;
  const value = BigInt.asIntN(64, BigInt(left) + BigInt(right));
  return value <= MAX_INTEGER && value >= -MAX_INTEGER ? Number(value) : value;
}

function planes(reader: ByteReader, count: number): Words {
  const min = reader.signed();
  const planeCount = reader.byte();
  if (planeCount > MAX_PLANES) throw malformed(`${planeCount} planes are too many`);
  const bytes = reader.bytes(count * planeCount);
  let words: Words = new Float64Array(count);
  for (let index = 0; index < count; index += 1) {
    let value: number | bigint = 0;
    for (let plane = 0; plane < planeCount; plane += 1) {
      const byte = bytes[plane * count + index] ?? 0;
      // The seventh plane may exceed what a number holds exactly.
      value = plane < 6 ? Number(value) + byte * 256 ** plane : BigInt(value) + (BigInt(byte) << BigInt(8 * plane));
    }
    words = store(words, index, sum(min, value));
  }
  return words;
}

/** Returns the integers of one or two heads and differences. */
function summed(heads: readonly (number | bigint)[], words: Words): Float64Array {
  return summedExactly(heads, words) ?? summedBig(heads, words);
}

/** Returns undefined if a number cannot hold each sum. */
function summedExactly(heads: readonly (number | bigint)[], words: Words): Float64Array | undefined {
  const [first, second = 0] = heads;
  if (typeof first !== "number" || typeof second !== "number" || words instanceof BigInt64Array) return undefined;
  const isSecond = heads.length === 2;
  const result = new Float64Array(words.length + heads.length);
  let value = first;
  let step = second;
  result[0] = value;
  if (isSecond) result[1] = value = checkedNumber(value + step);
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? 0;
    step = isSecond ? step + word : word;
    value += step;
    if (Math.abs(step) > MAX_INTEGER) return undefined;
    result[heads.length + index] = checkedNumber(value);
  }
  return result;
}

function summedBig(heads: readonly (number | bigint)[], words: Words): Float64Array {
  const wrap = (value: bigint) => BigInt.asIntN(64, value);
  const isSecond = heads.length === 2;
  const result = new Float64Array(words.length + heads.length);
  let value = BigInt(heads[0] ?? 0);
  let step = BigInt(heads[1] ?? 0);
  result[0] = checkedBig(value);
  if (isSecond) result[1] = checkedBig((value = wrap(value + step)));
  for (let index = 0; index < words.length; index += 1) {
    const word = BigInt(words[index] ?? 0);
    step = isSecond ? wrap(step + word) : word;
    value = wrap(value + step);
    result[heads.length + index] = checkedBig(value);
  }
  return result;
}
