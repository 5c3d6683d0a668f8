/**
 * The BLAKE3 hash of bytes, in 32 bytes, without keys. A quarter of the size of a library with all modes;
 * tests compare it with one. See https://github.com/BLAKE3-team/BLAKE3-specs.
 */

const [CHUNK_START, CHUNK_END, PARENT, ROOT] = [1, 2, 4, 8] as const;
const CHUNK_BYTES = 1_024;
const BLOCK_BYTES = 64;
const HASH_BYTES = 32;
const ROUNDS = 7;

const IV = Uint32Array.of(
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
);
const PERMUTATION = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
/** The indices of the words of a block in each round, one round after the other. */
const SCHEDULE = schedule();
/** The words of the state that each of the eight steps of a round mixes. */
const STEPS = Uint8Array.of(
  0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 0, 5, 10, 15, 1, 6, 11, 12, 2, 7, 8, 13, 3, 4, 9, 14,
);

/** What remains to be compressed: the last block of a chunk or of a parent. */
interface Node {
  value: Uint32Array;
  words: Uint32Array;
  chunk: number;
  length: number;
  flags: number;
}

export function blake3(bytes: Uint8Array): Uint8Array {
  const root = nodeOf(bytes, 0);
  const hash = new Uint8Array(HASH_BYTES);
  const view = new DataView(hash.buffer);
  // The chunk's number is only used in chunks. The root has the number of its output block, 0.
  compress({ ...root, chunk: 0, flags: root.flags | ROOT }).forEach((word, index) => view.setUint32(index * 4, word, true));
  return hash;
}

function nodeOf(bytes: Uint8Array, chunk: number): Node {
  if (bytes.length <= CHUNK_BYTES) return chunkNode(bytes, chunk);
  // The left part is the largest possible power of two of chunks.
  const chunks = 2 ** Math.floor(Math.log2(Math.ceil(bytes.length / CHUNK_BYTES) - 1));
  const middle = chunks * CHUNK_BYTES;
  const words = new Uint32Array(16);
  words.set(compress(nodeOf(bytes.subarray(0, middle), chunk)));
  words.set(compress(nodeOf(bytes.subarray(middle), chunk + chunks)), 8);
  return { value: IV, words, chunk: 0, length: BLOCK_BYTES, flags: PARENT };
}

function chunkNode(bytes: Uint8Array, chunk: number): Node {
  let value: Uint32Array = IV;
  let flags: number = CHUNK_START;
  for (let at = 0; ; at += BLOCK_BYTES) {
    const block = bytes.subarray(at, at + BLOCK_BYTES);
    const node = { value, words: wordsOf(block), chunk, length: block.length, flags };
    if (at + BLOCK_BYTES >= bytes.length) return { ...node, flags: flags | CHUNK_END };
    value = compress(node);
    flags = 0;
  }
}

function wordsOf(block: Uint8Array): Uint32Array {
  const words = new Uint32Array(16);
  for (let index = 0; index < block.length; index += 1) {
    words[index >> 2] = (words[index >> 2] ?? 0) | ((block[index] ?? 0) << (8 * (index & 3)));
  }
  return words;
}

const STATE = new Uint32Array(16);

/** Returns the first eight words of the compressed state. */
function compress({ value, words, chunk, length, flags }: Node): Uint32Array {
  STATE.set(value);
  STATE.set(IV.subarray(0, 4), 8);
  STATE[12] = chunk;
  STATE[13] = chunk / 2 ** 32;
  STATE[14] = length;
  STATE[15] = flags;
  for (let step = 0; step < ROUNDS * 8; step += 1) {
    const at = (step & 7) * 4;
    mix(STEPS[at]!, STEPS[at + 1]!, STEPS[at + 2]!, STEPS[at + 3]!, words[SCHEDULE[2 * step]!]!, words[SCHEDULE[2 * step + 1]!]!);
  }
  const result = new Uint32Array(8);
  for (let index = 0; index < 8; index += 1) result[index] = STATE[index]! ^ STATE[index + 8]!;
  return result;
}

function mix(a: number, b: number, c: number, d: number, x: number, y: number): void {
  let [one, two, three, four] = [STATE[a]!, STATE[b]!, STATE[c]!, STATE[d]!];
  one = (one + two + x) | 0;
  four = rotate(four ^ one, 16);
  three = (three + four) | 0;
  two = rotate(two ^ three, 12);
  one = (one + two + y) | 0;
  four = rotate(four ^ one, 8);
  three = (three + four) | 0;
  two = rotate(two ^ three, 7);
  STATE[a] = one;
  STATE[b] = two;
  STATE[c] = three;
  STATE[d] = four;
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function schedule(): Uint8Array {
  let round = PERMUTATION.map((_, index) => index);
  const rounds: number[] = [];
  for (let count = 0; count < ROUNDS; count += 1) {
    rounds.push(...round);
    round = PERMUTATION.map((index) => round[index] ?? 0);
  }
  return Uint8Array.from(rounds);
}
