import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readClients } from "../../src/data/chunks/clients";
import { FormatError } from "../../src/data/chunks/format-error";
import { hashOf } from "../../src/data/chunks/hash";
import { readIndex } from "../../src/data/chunks/index-object";
import { readRoot } from "../../src/data/chunks/root";
import { CHUNK, decompressFrame, ROOT, unpack } from "../../src/data/chunks/stored";
import { readTile, type Tile } from "../../src/data/chunks/tile";
import { corpus, goldenBytes, goldenObjects, outcome } from "./chunks-support";
import { SeededRandom } from "./random";

/** What the server's readers accept of `tests/fuzz-corpus`. They refuse everything else. */
const READABLE = {
  chunk: [
    "changes",
    "decimals",
    "decimals-with-exception",
    "decimals-with-exception-flipped",
    "empty-tile",
    "error-13",
    "integers-curve",
    "integers-differences",
    "integers-each",
    "integers-packed",
    "integers-planes",
    "most-empties",
    "numbers-dictionary",
    "planes",
    "rows-bitmap-kinds-formats",
    "rows-gaps",
    "sample",
    "templates",
    "texts-dictionary",
    "texts-front-coding",
    "texts-plain",
    "texts-words",
    "version-2",
  ],
  index: ["clients", "formats", "formats-2", "moves", "numbers", "parts", "stripes", "tiles"],
  root: ["numbers-without-end", "root", "root-flipped-282", "root-flipped-555"],
  stored: ["empty-frame", "repeated-words"],
};

const CLIENTS = 8;
const MAX_READ_MS = 2_000;

const READERS = {
  chunk: readTile,
  index: (bytes: Uint8Array) => (bytes[1] === CLIENTS ? readClients(bytes) : readIndex(bytes)),
  root: readRoot,
  stored: (bytes: Uint8Array) => unpack(bytes, hashOf(decompressFrame(bytes, CHUNK)), CHUNK),
};

/** Returns whether bytes are read. Everything but a `FormatError` fails the test. */
function isRead(read: (bytes: Uint8Array) => unknown, bytes: Uint8Array, what: string): boolean {
  const startedMs = performance.now();
  const found = outcome(() => read(bytes));
  expect(performance.now() - startedMs, what).toBeLessThan(MAX_READ_MS);
  if (found instanceof Error) expect(found, what).toBeInstanceOf(FormatError);
  return !(found instanceof Error);
}

describe.each(Object.entries(READERS))("the corpus of %s", (folder, read) => {
  it("is read or refused as by the server", () => {
    const files = corpus(folder);
    const found = files.filter(({ name, bytes }) => isRead(read, bytes, `${folder}/${name}`)).map(({ name }) => name);
    expect(found.sort()).toEqual(READABLE[folder as keyof typeof READABLE]);
  });
});

const TILES = ["chunk-tile-v1.hex", "chunk-tile-v2.hex", "chunk-tile-v1-every-form.hex"].map(goldenBytes);
const OBJECTS = ["index-v1.hex", "index-v2.hex", "import-v1.hex", "root-v1.hex", "root-v2.hex", "root-outdated.hex"]
  .flatMap(goldenObjects)
  .filter(({ name }) => name !== "level");

/** Calls `visit` with copies of `bytes` that differ in one byte. */
function eachMutation(bytes: Uint8Array, random: SeededRandom, perByte: number, visit: (mutated: Uint8Array) => void): void {
  for (let at = 0; at < bytes.length; at += 1) {
    for (let time = 0; time < perByte; time += 1) visit(bytes.with(at, (bytes[at] ?? 0) ^ (1 + random.below(255))));
  }
}

/** Returns whether a tile keeps the limits of the format. */
function isValid({ columns }: Tile): boolean {
  let cells = 0;
  let previous = -1;
  return columns.every(({ column, values, formulas, templates, formats }) => {
    const lists = [values, formulas, templates, formats];
    const ascends = ({ rows }: { rows: Uint32Array }) => rows.every((row, at) => row > (rows[at - 1] ?? -1) && row < 2 ** 30);
    const isComplete = lists.every((list) => list.items.length === list.rows.length && ascends(list));
    const known = new Set(values.rows);
    const haveValues = [formulas, templates].every(({ rows }) => rows.every((row) => known.has(row)));
    cells += lists.reduce((sum, { rows }) => sum + rows.length, 0);
    const isNext = column > previous;
    previous = column;
    return isComplete && haveValues && isNext && cells <= 2 ** 18;
  });
}

describe("a changed byte", () => {
  it("of a tile is refused, or gives a valid tile", () => {
    const random = new SeededRandom(1);
    let [read, refused] = [0, 0];
    for (const bytes of TILES) {
      eachMutation(bytes, random, bytes.length > 1_000 ? 1 : 8, (mutated) => {
        const tile = outcome(() => readTile(mutated));
        if (tile instanceof Error) {
          expect(tile).toBeInstanceOf(FormatError);
          refused += 1;
        } else {
          if (!isValid(tile)) expect.fail(`invalid: ${Buffer.from(mutated).toString("hex")}`);
          read += 1;
        }
      });
    }
    // Most bytes are numbers and texts, of which any is valid.
    expect(read).toBeGreaterThan(1_000);
    expect(refused).toBeGreaterThan(1_000);
  }, 60_000);

  it("of an index or a root is refused, or gives a valid object", () => {
    const random = new SeededRandom(2);
    for (const { name, bytes } of OBJECTS) {
      const read = name === "root" ? readRoot : READERS.index;
      eachMutation(bytes, random, 4, (mutated) => isRead(read, mutated, name));
    }
  }, 60_000);

  it("of a stored object is refused, or gives the same cells", () => {
    const random = new SeededRandom(3);
    const bytes = Uint8Array.from(readFileSync(new URL("./cases/every-form.zst", import.meta.url)));
    const plain = goldenBytes("chunk-tile-v1-every-form.hex");
    const hash = hashOf(plain);
    expect(unpack(bytes, hash, CHUNK)).toEqual(plain);
    let same = 0;
    eachMutation(bytes, random, 2, (mutated) => {
      if (isRead((input) => expect(unpack(input, hash, CHUNK)).toEqual(plain), mutated, "a frame")) same += 1;
    });
    expect(same).toBeLessThan(bytes.length / 10);
  }, 60_000);
});

describe("random bytes", () => {
  it("after a valid header are read or refused in bounded time", () => {
    const random = new SeededRandom(4);
    for (let round = 0; round < 3_000; round += 1) {
      const tail = Array.from({ length: random.below(60) }, () => random.below(256));
      isRead(readTile, Uint8Array.from([0x43, 0x63, 1 + random.below(2), 1, ...tail]), `round ${round}`);
      isRead(READERS.index, Uint8Array.from([0x83, 1 + random.below(9), 1 + random.below(2), ...tail]), `round ${round}`);
    }
  }, 60_000);
});

describe("stored objects", () => {
  const plain = goldenBytes("chunk-tile-v1.hex");

  /** Returns a frame with one block that is not compressed. */
  function rawFrame(content: Uint8Array, declared = content.length): Uint8Array {
    const block = (content.length << 3) | 1;
    const size = [declared & 255, (declared >> 8) & 255, (declared >> 16) & 255, declared >>> 24];
    return Uint8Array.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, ...size, block & 255, (block >> 8) & 255, block >> 16, ...content]);
  }

  it("are read, whether the browser has decompressed them or not", () => {
    expect(unpack(plain, hashOf(plain), CHUNK)).toEqual(plain);
    expect(unpack(rawFrame(plain), hashOf(plain), CHUNK)).toEqual(plain);
  });

  it.each([
    ["of another hash", () => rawFrame(plain.with(9, 0)), "hash"],
    ["of a larger declared size", () => rawFrame(plain, plain.length + 1), "hash"],
    ["of a smaller declared size", () => rawFrame(plain, plain.length - 1), "malformed"],
    ["of more bytes than a chunk may have", () => rawFrame(plain, CHUNK.plainBytes + 1), "limit"],
    ["of more bytes than memory", () => rawFrame(plain, -1), "limit"],
    ["with a byte behind", () => Uint8Array.from([...rawFrame(plain), 0]), "malformed"],
    ["of two frames", () => Uint8Array.from([...rawFrame(plain), ...rawFrame(plain)]), "malformed"],
    ["without the last byte", () => rawFrame(plain).slice(0, -1), "malformed"],
  ])("%s are refused", (_, make, problem) => {
    const found = outcome(() => unpack(make(), hashOf(plain), CHUNK));
    expect(found).toBeInstanceOf(FormatError);
    expect((found as FormatError).problem).toBe(problem);
  });

  it("of roots may be larger", () => {
    const large = new Uint8Array(CHUNK.plainBytes + 1);
    expect(() => unpack(large, hashOf(large), CHUNK)).toThrow(FormatError);
    expect(unpack(large, hashOf(large), ROOT)).toBe(large);
  });
});
