/**
 * Decompresses the blocks of a zstd frame (RFC 8878). It writes at most the declared number of bytes, and its
 * work is bounded by them. The small decoders for browsers do not check this, so that a damaged block takes minutes.
 */

import { damagedFrame } from "./format-error";
import { BackwardBits, fseTable, readFse, readHuffman, readHuffmanStream, repeated, type FseTable, type HuffmanTable } from "./fse";

export const MAX_BLOCK_BYTES = 2 ** 17;
/** Codes of larger offsets are beyond every allowed window. */
const MAX_OFFSET_CODE = 24;
const [LITERALS, OFFSETS, MATCHES] = [0, 1, 2] as const;
const MAX_LOGS = [9, 8, 9] as const;
const MAX_SYMBOLS = [35, 31, 52] as const;

/** Counts of the predefined tables, of literal lengths, offsets and match lengths. */
const DEFAULT_COUNTS = [
  [4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1],
  [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1],
  [1, 4, 3, 2, 2, 2, 2, 2, 2, ...new Array<number>(37).fill(1), -1, -1, -1, -1, -1, -1, -1],
] as const;
const DEFAULT_LOGS = [6, 5, 6] as const;

/** Extra bits of the codes of lengths, and the smallest length of each code. */
const LITERAL_BITS = [...new Array<number>(16).fill(0), 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
const MATCH_BITS = [...new Array<number>(32).fill(0), 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
const LITERAL_BASES = basesOf(LITERAL_BITS, 0);
const MATCH_BASES = basesOf(MATCH_BITS, 3);

function basesOf(bits: readonly number[], first: number): number[] {
  let base = first;
  return bits.map((count) => (base += 1 << count) - (1 << count));
}

export class BlockReader {
  #at = 0;
  #huffman: HuffmanTable | undefined;
  readonly #tables: (FseTable | undefined)[] = [undefined, undefined, undefined];
  readonly #offsets: [number, number, number] = [1, 4, 8];

  constructor(
    private readonly target: Uint8Array,
    private readonly windowBytes: number,
  ) {}

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.target.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  repeated(byte: number, count: number): void {
    this.#reserve(count);
    this.target.fill(byte, this.#at, (this.#at += count));
  }

  compressed(block: Uint8Array): void {
    const { literals, length } = this.#literals(block);
    const end = this.#at + Math.min(MAX_BLOCK_BYTES, this.windowBytes);
    const used = this.#sequences(block.subarray(length), literals);
    this.raw(literals.subarray(used));
    if (this.#at > end) throw damagedFrame();
  }

  end(): void {
    if (this.#at !== this.target.length) throw damagedFrame();
  }

  #reserve(count: number): void {
    if (count > this.target.length - this.#at) throw damagedFrame();
  }

  #literals(block: Uint8Array): { literals: Uint8Array; length: number } {
    const header = block[0] ?? 0;
    const [kind, format] = [header & 3, (header >> 2) & 3];
    if (kind > 1) return this.#codedLiterals(block, kind === 2, format);
    const headerBytes = [1, 2, 1, 3][format] ?? 1;
    const bits = headerBytes * 8;
    const count = littleEndian(block, headerBytes) >> (bits === 8 ? 3 : 4);
    const length = headerBytes + (kind === 0 ? count : 1);
    if (count > MAX_BLOCK_BYTES || length > block.length) throw damagedFrame();
    if (kind === 0) return { literals: block.subarray(headerBytes, length), length };
    return { literals: new Uint8Array(count).fill(block[headerBytes] ?? 0), length };
  }

  #codedLiterals(block: Uint8Array, hasTable: boolean, format: number): { literals: Uint8Array; length: number } {
    const headerBytes = [3, 3, 4, 5][format] ?? 3;
    const bits = [10, 10, 14, 18][format] ?? 10;
    const header = Math.floor(littleEndian(block, headerBytes) / 16);
    const [count, codedBytes] = [header % 2 ** bits, Math.floor(header / 2 ** bits)];
    const length = headerBytes + codedBytes;
    if (count > MAX_BLOCK_BYTES || length > block.length) throw damagedFrame();
    let coded = block.subarray(headerBytes, length);
    if (hasTable) {
      const { table, length: tableBytes } = readHuffman(coded);
      this.#huffman = table;
      coded = coded.subarray(tableBytes);
    }
    if (this.#huffman === undefined) throw damagedFrame();
    const literals = new Uint8Array(count);
    if (format === 0) readHuffmanStream(coded, literals, this.#huffman);
    else readFourStreams(coded, literals, this.#huffman);
    return { literals, length };
  }

  /** Returns how many literals were used. */
  #sequences(bytes: Uint8Array, literals: Uint8Array): number {
    const first = bytes[0] ?? 0;
    let at = first < 128 ? 1 : first < 255 ? 2 : 3;
    const more = (bytes[1] ?? 0) + ((bytes[2] ?? 0) << 8);
    const count = first < 128 ? first : first < 255 ? ((first - 128) << 8) + (more & 255) : more + 0x7f00;
    if (count === 0) {
      if (bytes.length !== at) throw damagedFrame();
      return 0;
    }
    const modes = bytes[at] ?? 3;
    if ((modes & 3) !== 0) throw damagedFrame();
    at += 1;
    for (const kind of [LITERALS, OFFSETS, MATCHES]) at += this.#readTable(kind, (modes >> (6 - 2 * kind)) & 3, bytes.subarray(at));
    return this.#copy(count, new BackwardBits(bytes.subarray(at)), literals);
  }

  /** Sets a table, and returns how many bytes it takes. */
  #readTable(kind: 0 | 1 | 2, mode: number, bytes: Uint8Array): number {
    if (mode === 0) {
      this.#tables[kind] = fseTable(DEFAULT_COUNTS[kind], DEFAULT_LOGS[kind]);
      return 0;
    }
    if (mode === 1) {
      const symbol = bytes[0] ?? 255;
      if (symbol > MAX_SYMBOLS[kind]) throw damagedFrame();
      this.#tables[kind] = repeated(symbol);
      return 1;
    }
    if (mode === 3) {
      if (this.#tables[kind] === undefined) throw damagedFrame();
      return 0;
    }
    const { table, length } = readFse(bytes, MAX_LOGS[kind], MAX_SYMBOLS[kind]);
    this.#tables[kind] = table;
    return length;
  }

  #copy(count: number, reader: BackwardBits, literals: Uint8Array): number {
    const [literalTable, offsetTable, matchTable] = this.#tables as [FseTable, FseTable, FseTable];
    let used = 0;
    let literalState = reader.read(literalTable.log);
    let offsetState = reader.read(offsetTable.log);
    let matchState = reader.read(matchTable.log);
    const nextState = (table: FseTable, state: number) => (table.bases[state] ?? 0) + reader.read(table.bits[state] ?? 0);
    for (let left = count; left > 0; left -= 1) {
      const offsetCode = offsetTable.symbols[offsetState] ?? 0;
      const [matchCode, literalCode] = [matchTable.symbols[matchState] ?? 0, literalTable.symbols[literalState] ?? 0];
      if (offsetCode > MAX_OFFSET_CODE) throw damagedFrame();
      const offsetValue = (1 << offsetCode) + reader.read(offsetCode);
      const matchLength = (MATCH_BASES[matchCode] ?? 0) + reader.read(MATCH_BITS[matchCode] ?? 0);
      const literalLength = (LITERAL_BASES[literalCode] ?? 0) + reader.read(LITERAL_BITS[literalCode] ?? 0);
      if (used + literalLength > literals.length) throw damagedFrame();
      this.raw(literals.subarray(used, used + literalLength));
      used += literalLength;
      this.#match(this.#offset(offsetValue, literalLength === 0), matchLength);
      if (left === 1) break;
      literalState = nextState(literalTable, literalState);
      matchState = nextState(matchTable, matchState);
      offsetState = nextState(offsetTable, offsetState);
    }
    reader.end();
    return used;
  }

  /** Returns an offset, which may be one of the last three. */
  #offset(value: number, isShifted: boolean): number {
    const [first, second, third] = this.#offsets;
    const index = value > 3 ? 3 : value - 1 + (isShifted ? 1 : 0);
    const offset = value > 3 ? value - 3 : ([first, second, third, first - 1][index] ?? 0);
    if (index > 0) {
      if (index > 1) this.#offsets[2] = second;
      this.#offsets[1] = first;
      this.#offsets[0] = offset;
    }
    return offset;
  }

  #match(offset: number, length: number): void {
    this.#reserve(length);
    if (offset < 1 || offset > this.#at || offset > this.windowBytes) throw damagedFrame();
    const { target } = this;
    const start = this.#at;
    this.#at += length;
    if (offset >= length) target.copyWithin(start, start - offset, start - offset + length);
    else for (let at = start; at < this.#at; at += 1) target[at] = target[at - offset] ?? 0;
  }
}

function littleEndian(bytes: Uint8Array, count: number): number {
  let value = 0;
  for (let index = count - 1; index >= 0; index -= 1) value = value * 256 + (bytes[index] ?? 0);
  return value;
}

function readFourStreams(bytes: Uint8Array, target: Uint8Array, table: HuffmanTable): void {
  const JUMP_BYTES = 6;
  const quarter = (target.length + 3) >> 2;
  let at = JUMP_BYTES;
  for (let stream = 0; stream < 4; stream += 1) {
    const size = (bytes[2 * stream] ?? 0) + ((bytes[2 * stream + 1] ?? 0) << 8);
    const end = stream === 3 ? bytes.length : at + size;
    if (end > bytes.length || at >= end) throw damagedFrame();
    const part = target.subarray(stream * quarter, stream === 3 ? target.length : (stream + 1) * quarter);
    readHuffmanStream(bytes.subarray(at, end), part, table);
    at = end;
  }
}
