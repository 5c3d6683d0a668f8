import { readFileSync } from "node:fs";
import { decompress } from "fzstd";
import { describe, expect, it } from "vitest";
import { FormatError } from "../../src/data/chunks/format-error";
import { decompressFrame } from "../../src/data/chunks/frame";
import { ROOT } from "../../src/data/chunks/stored";
import { goldenBytes, outcome } from "./chunks-support";
import { SeededRandom } from "./random";

const frame = (name: string) => Uint8Array.from(readFileSync(new URL(`./cases/${name}.zst`, import.meta.url)));

/** Several blocks, long and short matches, repeated tables. The command `zstd -3` has compressed it. */
function lines(): Uint8Array {
  const random = new SeededRandom(9);
  const words = ["Paris", "Tokyo", "Lima", "Oslo", "Accra", "Quito", "Perth"];
  const parts: string[] = [];
  for (let row = 0; row < 9_000; row += 1) {
    const [word, number] = [words[random.below(words.length)], random.below(20) === 0 ? random.below(1_000_000) : row % 50];
    parts.push(row % 500 === 0 ? "=".repeat(9_000) : `${Math.floor(row / 10)},${word},${number},${row % 3 === 0}\n`);
  }
  return new TextEncoder().encode(parts.join(""));
}

/** Bytes of which some are much more frequent, as `zstd -19` has compressed them. */
function skewed(): Uint8Array {
  const random = new SeededRandom(10);
  return Uint8Array.from({ length: 5_000 }, () => random.below(1 + random.below(1 + random.below(200))));
}

describe("zstd frames", () => {
  const frames = [
    { name: "every-form", plain: goldenBytes("chunk-tile-v1-every-form.hex") },
    { name: "lines", plain: lines() },
    { name: "skewed", plain: skewed() },
  ];

  it.each(frames)("of $name are decompressed", ({ name, plain }) => {
    const found = decompressFrame(frame(name), ROOT);
    expect(Buffer.compare(found, plain)).toBe(0);
    expect(Buffer.compare(decompress(frame(name)), plain)).toBe(0);
  });

  it.each(frames)("of $name are refused if they are cut", ({ name }) => {
    const bytes = frame(name);
    for (let length = 0; length < bytes.length; length += Math.ceil(bytes.length / 300)) {
      expect(() => decompressFrame(bytes.subarray(0, length), ROOT), `${length} bytes`).toThrow(FormatError);
    }
  });

  it("that repeat as much as possible end soon", () => {
    // 98,047 sequences with the longest matches, of tables with one code each.
    const sequences = [0xff, 0xff, 0xff, 0x54, 0, 0, 52];
    const block = [0, ...sequences, ...new Array<number>(40).fill(255)];
    const header = (block.length << 3) | 5;
    const bytes = Uint8Array.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 64, 0, header & 255, header >> 8, 0, ...block]);
    const started = process.cpuUsage();
    expect(outcome(() => decompressFrame(bytes, ROOT))).toBeInstanceOf(FormatError);
    expect(process.cpuUsage(started).user).toBeLessThan(1_000_000);
  });
});
