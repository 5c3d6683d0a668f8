/** Numbers(n) of the chunk format. */

import type { ByteReader } from "./byte-reader";
import { malformed } from "./format-error";
import { readCounts, readIntegers } from "./integers";

const NUMBER_BYTES = 8;
const DICTIONARY = 4;

export function readNumbers(reader: ByteReader, count: number): Float64Array {
  const numbers = readForms(reader, count, true);
  for (const number of numbers) {
    if (!Number.isFinite(number)) throw malformed(`the number ${number} is not finite`);
  }
  return numbers;
}

function readForms(reader: ByteReader, count: number, allowsDictionary: boolean): Float64Array {
  const how = reader.byte();
  const [form, places] = [how >> 4, how & 15];
  if (form >= 2 && places !== 0) throw malformed(`numbers of form ${form} have no decimals`);
  if (form === 0) return readDecimals(reader, count, places);
  if (form === 1) return readExceptions(reader, readDecimals(reader, count, places));
  if (form === 2 || form === 3) return readPlanes(reader, count, form === 3);
  if (form === DICTIONARY && allowsDictionary) return readDictionary(reader, count);
  throw malformed(`${form} is no form of numbers here`);
}

function readDecimals(reader: ByteReader, count: number, places: number): Float64Array {
  const divisor = 10 ** places;
  return readIntegers(reader, count).map((integer) => integer / divisor);
}

function readExceptions(reader: ByteReader, numbers: Float64Array): Float64Array {
  const count = reader.count();
  if (count > numbers.length) throw malformed(`${count} exceptions are more than the numbers`);
  const gaps = readCounts(reader, count, numbers.length);
  const bytes = reader.bytes(count * NUMBER_BYTES);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let index = -1;
  gaps.forEach((gap, exception) => {
    index += 1 + gap;
    if (index >= numbers.length) throw malformed("an exception is outside of the numbers");
    numbers[index] = view.getFloat64(exception * NUMBER_BYTES, true);
  });
  return numbers;
}

function readPlanes(reader: ByteReader, count: number, areChanges: boolean): Float64Array {
  const planes = reader.bytes(count * NUMBER_BYTES);
  const numbers = new Float64Array(count);
  const view = new DataView(numbers.buffer);
  for (let index = 0; index < count; index += 1) {
    for (let plane = 0; plane < NUMBER_BYTES; plane += 1) {
      const previous = areChanges && index > 0 ? view.getUint8((index - 1) * NUMBER_BYTES + plane) : 0;
      view.setUint8(index * NUMBER_BYTES + plane, (planes[plane * count + index] ?? 0) ^ previous);
    }
  }
  // Read by the view, because the byte order of Float64Array depends on the machine.
  return Float64Array.from({ length: count }, (_, index) => view.getFloat64(index * NUMBER_BYTES, true));
}

function readDictionary(reader: ByteReader, count: number): Float64Array {
  const size = reader.count();
  if (size < 1 || size > count) throw malformed(`a dictionary of ${size} for ${count} numbers`);
  const numbers = readForms(reader, size, false);
  return readCounts(reader, count, size - 1).map((index) => numbers[index] ?? 0);
}
