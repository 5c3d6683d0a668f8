/** Texts(n, max) of the chunk format. */

import { MAX_EXPANDED_TEXT_BYTES, MAX_WORDS } from "./bounds";
import type { ByteReader } from "./byte-reader";
import { FormatError, malformed } from "./format-error";
import { readCounts } from "./integers";

const [PLAIN, DICTIONARY, FRONT_CODING, WORDS] = [0, 1, 2, 3] as const;
const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function utf8(bytes: Uint8Array): string {
  try {
    return DECODER.decode(bytes);
  } catch {
    throw malformed("a text is not UTF-8");
  }
}

/** A text with its length in bytes. */
interface Texts {
  texts: string[];
  lengths: ArrayLike<number>;
}

/** Reads all texts of one chunk, because their expansion is limited together. */
export class TextReader {
  #expanded = 0;

  constructor(private readonly reader: ByteReader) {}

  texts(count: number, maxBytes: number): string[] {
    return this.#read(count, maxBytes, [PLAIN, DICTIONARY, FRONT_CODING, WORDS]).texts;
  }

  #read(count: number, maxBytes: number, allowed: readonly number[]): Texts {
    const form = this.reader.byte();
    if (!allowed.includes(form)) throw malformed(`${form} is no form of texts here`);
    if (form === PLAIN) return this.#plain(count, maxBytes);
    if (form === FRONT_CODING) return this.#frontCoding(count, maxBytes);
    return form === WORDS ? this.#words(count, maxBytes) : this.#dictionary(count, maxBytes);
  }

  #plain(count: number, maxBytes: number): Texts {
    const lengths = readCounts(this.reader, count, maxBytes);
    const bytes = this.reader.bytes(total(lengths));
    const ascii = asciiOf(bytes);
    let start = 0;
    const texts = Array.from(lengths, (length) => {
      const end = start + length;
      const text = ascii === undefined ? utf8(bytes.subarray(start, end)) : ascii.slice(start, end);
      start = end;
      return text;
    });
    return { texts, lengths };
  }

  #dictionary(count: number, maxBytes: number): Texts {
    const size = this.reader.count();
    if (size < 1 || size > count) throw malformed(`a dictionary of ${size} for ${count} texts`);
    const { texts, lengths } = this.#read(size, maxBytes, [PLAIN, FRONT_CODING, WORDS]);
    const indices = readCounts(this.reader, count, size - 1);
    return {
      texts: Array.from(indices, (index) => texts[index] ?? ""),
      lengths: indices.map((index) => lengths[index] ?? 0),
    };
  }

  #frontCoding(count: number, maxBytes: number): Texts {
    const shared = readCounts(this.reader, count, maxBytes);
    const further = readCounts(this.reader, count, maxBytes);
    const lengths = shared.map((length, index) => length + (further[index] ?? 0));
    this.#expand(total(lengths));
    let previous = 0;
    lengths.forEach((length, index) => {
      if ((shared[index] ?? 0) > previous) throw malformed("a text shares more bytes than the previous text has");
      if (length > maxBytes) throw malformed(`a text has ${length} bytes; at most ${maxBytes} are allowed`);
      previous = length;
    });
    const bytes = this.reader.bytes(total(further));
    return { texts: joinShared(bytes, shared, further), lengths };
  }

  #words(count: number, maxBytes: number): Texts {
    const size = this.reader.count();
    if (size < 1 || size > MAX_WORDS) throw malformed(`${size} words are not from 1 to ${MAX_WORDS}`);
    this.#expand(size);
    const words = this.#read(size, maxBytes, [PLAIN, FRONT_CODING]);
    const counts = readCounts(this.reader, count, maxBytes + 1);
    const sum = total(counts);
    if (sum > MAX_WORDS) throw malformed(`${sum} words are more than ${MAX_WORDS}`);
    const indices = readCounts(this.reader, sum, size - 1);
    const lengths = this.#wordLengths(counts, indices, words.lengths, maxBytes);
    let next = 0;
    const texts = Array.from(counts, (wordCount) => {
      const parts = indices.subarray(next, next + wordCount);
      next += wordCount;
      return Array.from(parts, (index) => words.texts[index] ?? "").join(" ");
    });
    return { texts, lengths };
  }

  /** Checks the lengths of all texts before one is made. */
  #wordLengths(counts: Float64Array, indices: Float64Array, words: ArrayLike<number>, maxBytes: number) {
    let next = 0;
    const lengths = counts.map((wordCount) => {
      if (wordCount === 0) throw malformed("a text has no words");
      let length = wordCount - 1;
      for (const index of indices.subarray(next, next + wordCount)) length += words[index] ?? 0;
      next += wordCount;
      if (length > maxBytes) throw malformed(`a text has ${length} bytes; at most ${maxBytes} are allowed`);
      return length;
    });
    this.#expand(total(lengths));
    return lengths;
  }

  #expand(bytes: number): void {
    this.#expanded += bytes;
    if (this.#expanded > MAX_EXPANDED_TEXT_BYTES) {
      throw new FormatError("limit", `the texts of a chunk expand to more than ${MAX_EXPANDED_TEXT_BYTES} bytes`);
    }
  }
}

function total(lengths: Float64Array): number {
  return lengths.reduce((sum, length) => sum + length, 0);
}

/** Returns the text of bytes below 128, in which each character is one byte, or undefined. */
function asciiOf(bytes: Uint8Array): string | undefined {
  for (const byte of bytes) {
    if (byte > 127) return undefined;
  }
  return DECODER.decode(bytes);
}

function joinShared(bytes: Uint8Array, shared: Float64Array, further: Float64Array): string[] {
  const ascii = asciiOf(bytes);
  let start = 0;
  let previous = "";
  let previousBytes = new Uint8Array(0);
  return Array.from(shared, (length, index) => {
    const end = start + (further[index] ?? 0);
    if (ascii !== undefined) {
      previous = previous.slice(0, length) + ascii.slice(start, end);
    } else {
      const joined = new Uint8Array(length + end - start);
      joined.set(previousBytes.subarray(0, length));
      joined.set(bytes.subarray(start, end), length);
      previousBytes = joined;
      previous = utf8(joined);
    }
    start = end;
    return previous;
  });
}
