/** Entropy codes of zstd (RFC 8878, section 4): finite state entropy and Huffman codes. */

import { damagedFrame } from "./format-error";

/** The state `index` stands for a symbol; the next state is a base plus some bits. */
export interface FseTable {
  log: number;
  symbols: Uint8Array;
  bits: Uint8Array;
  bases: Uint16Array;
}

export interface HuffmanTable {
  maxBits: number;
  symbols: Uint8Array;
  bits: Uint8Array;
}

const MAX_HUFFMAN_BITS = 11;
const MAX_WEIGHT_LOG = 6;

/** Returns up to 25 bits that start at a bit, which may be before the first one: those are 0. */
export function bitsAt(bytes: Uint8Array, bit: number, count: number): number {
  const at = bit >> 3;
  const word = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
  return (word >>> (bit & 7)) & ((1 << count) - 1);
}

/** Reads bits from the end. The highest set bit of the last byte marks the end. */
export class BackwardBits {
  bit: number;

  constructor(readonly bytes: Uint8Array) {
    const last = bytes[bytes.length - 1] ?? 0;
    if (last === 0) throw damagedFrame();
    this.bit = bytes.length * 8 - 1 - Math.clz32(last << 24);
  }

  read(count: number): number {
    this.bit -= count;
    return bitsAt(this.bytes, this.bit, count);
  }

  end(): void {
    if (this.bit !== 0) throw damagedFrame();
  }
}

const highestBit = (value: number) => 31 - Math.clz32(value);

/** Reads a table, and returns it with the number of bytes that it takes. */
export function readFse(bytes: Uint8Array, maxLog: number, maxSymbol: number): { table: FseTable; length: number } {
  const log = bitsAt(bytes, 0, 4) + 5;
  if (log > maxLog) throw damagedFrame();
  let [bit, left] = [4, 1 << log];
  const counts: number[] = [];
  while (left > 0) {
    const size = highestBit(left + 1) + 1;
    const low = (1 << (size - 1)) - 1;
    const short = (1 << size) - 2 - left;
    let value = bitsAt(bytes, bit, size);
    bit += size;
    if ((value & low) < short) {
      value &= low;
      bit -= 1;
    } else if (value > low) value -= short;
    counts.push(value - 1);
    left -= Math.abs(value - 1);
    for (let repeat = value === 1 ? 3 : 0; repeat === 3; bit += 2) {
      repeat = bitsAt(bytes, bit, 2);
      for (let zero = 0; zero < repeat; zero += 1) counts.push(0);
    }
    if (left < 0 || counts.length > maxSymbol + 1) throw damagedFrame();
  }
  const length = (bit + 7) >> 3;
  if (length > bytes.length) throw damagedFrame();
  return { table: fseTable(counts, log), length };
}

/** Builds a table of normalized counts; -1 stands for a symbol that is rarer than 1. */
export function fseTable(counts: readonly number[], log: number): FseTable {
  const size = 1 << log;
  const table = { log, symbols: new Uint8Array(size), bits: new Uint8Array(size), bases: new Uint16Array(size) };
  const next = counts.map(Math.abs);
  let high = size;
  counts.forEach((count, symbol) => {
    if (count < 0) table.symbols[(high -= 1)] = symbol;
  });
  let place = 0;
  counts.forEach((count, symbol) => {
    for (let index = 0; index < count; index += 1) {
      table.symbols[place] = symbol;
      do place = (place + (size >> 1) + (size >> 3) + 3) & (size - 1);
      while (place >= high);
    }
  });
  table.symbols.forEach((symbol, state) => {
    const number = next[symbol] ?? 1;
    next[symbol] = number + 1;
    const bits = log - highestBit(number);
    table.bits[state] = bits;
    table.bases[state] = (number << bits) - size;
  });
  return table;
}

/** Returns a table with one state, for a symbol that is repeated. */
export function repeated(symbol: number): FseTable {
  return { log: 0, symbols: Uint8Array.of(symbol), bits: new Uint8Array(1), bases: new Uint16Array(1) };
}

export function readHuffman(bytes: Uint8Array): { table: HuffmanTable; length: number } {
  const header = bytes[0] ?? 0;
  const count = header - 127;
  const length = 1 + (header < 128 ? header : (count + 1) >> 1);
  if (length > bytes.length) throw damagedFrame();
  const rest = bytes.subarray(1, length);
  const nibble = (_: unknown, index: number) => ((rest[index >> 1] ?? 0) >> (index % 2 === 0 ? 4 : 0)) & 15;
  const weights = header < 128 ? readWeights(rest) : Array.from({ length: count }, nibble);
  return { table: huffmanTable(weights), length };
}

function readWeights(bytes: Uint8Array): number[] {
  const { table, length } = readFse(bytes, MAX_WEIGHT_LOG, 255);
  const reader = new BackwardBits(bytes.subarray(length));
  const states = [reader.read(table.log), reader.read(table.log)];
  const weights: number[] = [];
  for (let turn = 0; ; turn ^= 1) {
    const state = states[turn] ?? 0;
    weights.push(table.symbols[state] ?? 0);
    states[turn] = (table.bases[state] ?? 0) + reader.read(table.bits[state] ?? 0);
    if (weights.length > 255) throw damagedFrame();
    if (reader.bit >= 0) continue;
    weights.push(table.symbols[states[turn ^ 1] ?? 0] ?? 0);
    return weights;
  }
}

function huffmanTable(weights: number[]): HuffmanTable {
  const sum = weights.reduce((total, weight) => total + ((1 << weight) >> 1), 0);
  const maxBits = highestBit(sum) + 1;
  const left = (1 << maxBits) - sum;
  const isValid = sum > 0 && maxBits <= MAX_HUFFMAN_BITS && (left & (left - 1)) === 0;
  if (!isValid) throw damagedFrame();
  // The last weight is not stored.
  const all = [...weights, highestBit(left) + 1];
  const table = { maxBits, symbols: new Uint8Array(1 << maxBits), bits: new Uint8Array(1 << maxBits) };
  let place = 0;
  for (let weight = 1; weight <= maxBits; weight += 1) {
    all.forEach((other, symbol) => {
      if (other !== weight) return;
      const end = place + (1 << (weight - 1));
      table.symbols.fill(symbol, place, end);
      table.bits.fill(maxBits + 1 - weight, place, end);
      place = end;
    });
  }
  return table;
}

export function readHuffmanStream(bytes: Uint8Array, target: Uint8Array, { maxBits, symbols, bits }: HuffmanTable): void {
  const reader = new BackwardBits(bytes);
  for (let index = 0; index < target.length; index += 1) {
    const code = bitsAt(bytes, reader.bit - maxBits, maxBits);
    target[index] = symbols[code] ?? 0;
    reader.bit -= bits[code] ?? 0;
    if (reader.bit < 0) break;
  }
  reader.end();
}
