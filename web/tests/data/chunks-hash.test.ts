import { blake3 as library } from "@noble/hashes/blake3.js";
import { describe, expect, it } from "vitest";
import { blake3 } from "../../src/data/chunks/blake3";
import { hexadecimal } from "../../src/data/chunks/hash";
import { SeededRandom } from "./random";

describe("BLAKE3", () => {
  it("gives the published hashes", () => {
    const hash = (text: string) => hexadecimal(blake3(new TextEncoder().encode(text)));
    expect(hash("")).toBe("af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
    expect(hash("abc")).toBe("6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
  });

  it("gives the same as another implementation", () => {
    const random = new SeededRandom(5);
    const edges = [1, 63, 64, 65, 1_023, 1_024, 1_025, 2_048, 2_049, 3_072, 4_096, 5_121, 16_384, 31_744, 102_400];
    const lengths = [...edges, ...Array.from({ length: 60 }, () => random.below(20_000))];
    for (const length of lengths) {
      const bytes = Uint8Array.from({ length }, () => random.below(256));
      expect(hexadecimal(blake3(bytes)), `${length} bytes`).toBe(hexadecimal(library(bytes)));
    }
  });
});
