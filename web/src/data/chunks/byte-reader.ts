/** Reads the parts of the chunk format. */

import { malformed } from "./format-error";

const GROUP = 128;
const MAX_VARINT_BYTES = 10;
const MAX_EXACT_GROUPS = 7;

export class ByteReader {
  #offset = 0;

  constructor(private readonly source: Uint8Array) {}

  get remaining(): number {
    return this.source.length - this.#offset;
  }

  byte(): number {
    const byte = this.source[this.#offset];
    if (byte === undefined) throw malformed("the bytes end too early");
    this.#offset += 1;
    return byte;
  }

  /** Returns a view of the next bytes, not a copy. */
  bytes(count: number): Uint8Array {
    if (count > this.remaining) throw malformed("the bytes end too early");
    const start = this.#offset;
    this.#offset += count;
    return this.source.subarray(start, start + count);
  }

  /** Reads a count, or another integer of which no valid chunk has one above 2⁵³ - 1. */
  count(): number {
    const value = this.varint();
    if (typeof value === "bigint") throw malformed(`the integer ${value} is too large`);
    return value;
  }

  /** Reads an unsigned integer of 64 bits; a bigint if it may exceed 2⁵³ - 1. */
  varint(): number | bigint {
    let value = 0;
    let factor = 1;
    for (let group = 0; group < MAX_EXACT_GROUPS; group += 1) {
      const byte = this.byte();
      value += (byte % GROUP) * factor;
      if (byte < GROUP) return value;
      factor *= GROUP;
    }
    return this.#longVarint(BigInt(value));
  }

  #longVarint(low: bigint): number | bigint {
    let value = low;
    for (let group = MAX_EXACT_GROUPS; group < MAX_VARINT_BYTES; group += 1) {
      const byte = this.byte();
      if (group === MAX_VARINT_BYTES - 1 && byte > 1) throw malformed("an integer has more than 64 bits");
      value |= BigInt(byte % GROUP) << BigInt(7 * group);
      if (byte < GROUP) return value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
    }
    throw malformed("an integer has more than 64 bits");
  }

  /** Reads a signed integer of 64 bits; a bigint if it exceeds ±(2⁵³ - 1). */
  signed(): number | bigint {
    const value = this.varint();
    if (typeof value === "number") {
      // Adding zero turns -0 into 0.
      return value % 2 === 0 ? value / 2 : -(value - 1) / 2 - 1;
    }
    const half = value & 1n ? -(value >> 1n) - 1n : value >> 1n;
    const isExact = half <= Number.MAX_SAFE_INTEGER && half >= -Number.MAX_SAFE_INTEGER;
    return isExact ? Number(half) : half;
  }

  end(what: string): void {
    if (this.remaining > 0) throw malformed(`${this.remaining} bytes follow ${what}`);
  }
}
