/** The profile of CBOR of indexes and roots: integers, byte strings, texts, arrays and maps. */

import { FormatError, malformed } from "./format-error";
import { utf8 } from "./texts";

const [INTEGER, BYTES, TEXT, ARRAY, MAP] = [0, 2, 3, 4, 5] as const;
/** More than any object needs, and less than a stack overflow. */
const MAX_DEPTH = 32;

export class CborReader {
  #offset = 0;

  constructor(private readonly source: Uint8Array) {}

  get #remaining(): number {
    return this.source.length - this.#offset;
  }

  /** Reads an integer from 0 to `max`. */
  integer(max: number, what: string): number {
    const value = this.#head(INTEGER);
    if (value > max) throw malformed(`${what} is ${value}; at most ${max} is possible`);
    return value;
  }

  bytes(): Uint8Array {
    return this.#take(this.#head(BYTES));
  }

  text(): string {
    return utf8(this.#take(this.#head(TEXT)));
  }

  /** Returns the number of items, which the remaining bytes can hold. */
  array(): number {
    return this.#itemCount(this.#head(ARRAY), 1);
  }

  /** Reads an array of a fixed number of items. */
  arrayOf(count: number, what: string): void {
    const actual = this.array();
    if (actual !== count) throw malformed(`${what} has ${actual} items instead of ${count}`);
  }

  list<T>(max: number, what: string, read: (index: number) => T): T[] {
    const count = this.array();
    if (count > max) throw new FormatError("limit", `${what} have ${count} items; at most ${max} are allowed`);
    const items: T[] = [];
    for (let index = 0; index < count; index += 1) items.push(read(index));
    return items;
  }

  /** Reads a flat list of integers, which cannot be longer than the bytes. */
  integers(max: number, what: string): number[] {
    return this.list(Number.MAX_SAFE_INTEGER, what, () => this.integer(max, what));
  }

  /** Reads a map with integer keys, and skips the keys that `fields` does not have. */
  map(fields: Readonly<Record<number, () => void>>): void {
    const count = this.#itemCount(this.#head(MAP), 2);
    const seen = new Set<number>();
    for (let index = 0; index < count; index += 1) {
      const key = this.#head(INTEGER);
      if (seen.has(key)) throw malformed(`the key ${key} is repeated`);
      seen.add(key);
      const read = fields[key];
      if (read === undefined) this.skip();
      else read();
    }
  }

  skip(depth = 0): void {
    if (depth > MAX_DEPTH) throw malformed("a value is nested too deeply");
    const major = (this.source[this.#offset] ?? 0) >> 5;
    const value = this.#head(major, Number.MAX_VALUE);
    if (major === BYTES || major === TEXT) this.#take(value);
    const itemCount = major === ARRAY ? value : major === MAP ? 2 * value : 0;
    for (let index = 0; index < itemCount; index += 1) this.skip(depth + 1);
  }

  end(): void {
    if (this.#remaining > 0) throw malformed(`${this.#remaining} bytes follow an object`);
  }

  /** Reads the first bytes of a value. No argument that is used may exceed 2⁵³ - 1. */
  #head(major: number, max = Number.MAX_SAFE_INTEGER): number {
    const byte = this.#take(1)[0] ?? 0;
    const allowed: readonly number[] = [INTEGER, BYTES, TEXT, ARRAY, MAP];
    if (byte >> 5 !== major || !allowed.includes(major)) throw malformed(`the type ${byte >> 5} is not expected here`);
    const short = byte & 31;
    if (short < 24) return short;
    if (short > 27) throw malformed("a length is not declared");
    const bytes = this.#take(2 ** (short - 24));
    const value = bytes.reduce((sum, next) => sum * 256 + next, 0);
    if (value > max) throw malformed(`the integer ${value} is too large`);
    return value;
  }

  #take(count: number): Uint8Array {
    if (count > this.#remaining) throw malformed("the bytes end too early");
    const start = this.#offset;
    this.#offset += count;
    return this.source.subarray(start, start + count);
  }

  #itemCount(count: number, bytesPerItem: number): number {
    if (count * bytesPerItem > this.#remaining) throw malformed("the bytes end too early");
    return count;
  }
}
