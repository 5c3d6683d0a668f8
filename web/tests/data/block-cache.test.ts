import { describe, expect, it } from "vitest";
import { AxisMap } from "../../src/data/axis-map";
import { Block, placeOf } from "../../src/data/block";
import { BlockCache } from "../../src/data/block-cache";
import { BLOCK_OVERHEAD_CELLS, MAX_ROWS } from "../../src/data/limits";
import { SeededRandom } from "./random";

const cell = (text: string) => ({ value: text, text });

function fullBlock(row: number, column: number, texts: [number, number, string][] = []): Block {
  const block = new Block(placeOf(0, row, column));
  block.markAllLoaded();
  for (const [cellRow, cellColumn, text] of texts) block.set(cellRow, cellColumn, cell(text));
  return block;
}

describe("the block cache", () => {
  it("keeps as many cells as its limit, and drops the least recently used block above", () => {
    const cache = new BlockCache(2 * BLOCK_OVERHEAD_CELLS + 1);
    cache.put(fullBlock(0, 0, [[0, 0, "a"]]));
    cache.put(fullBlock(128, 0));
    expect(cache.weight).toBe(2 * BLOCK_OVERHEAD_CELLS + 1);
    cache.touch(placeOf(0, 0, 0));
    cache.put(fullBlock(256, 0, [[256, 0, "b"]]));
    expect(cache.isLoaded(0, 128, 0)).toBe(false);
    expect(cache.isLoaded(0, 256, 0)).toBe(true);
    // 2 blocks and 2 cells are one more than the limit, so that the older one was dropped too.
    expect(cache.isLoaded(0, 0, 0)).toBe(false);
  });

  it("keeps a single block that is larger than the limit", () => {
    const cache = new BlockCache(1);
    cache.put(fullBlock(0, 0, [[0, 0, "a"]]));
    expect(cache.get(0, 0, 0)?.text).toBe("a");
  });

  it("moves cells as inserts and deletes do, and never shows a wrong cell", () => {
    for (let seed = 0; seed < 20; seed += 1) {
      const random = new SeededRandom(seed);
      const cache = new BlockCache();
      let rows = Array.from({ length: 384 }, (_, row) => `r${row}`);
      for (const first of [0, 128]) {
        cache.put(fullBlock(first, 0, rows.slice(first, first + 128).map((text, row) => [first + row, 3, text])));
      }
      for (let step = 0; step < 6; step += 1) {
        const [first, count] = [random.below(256), 1 + random.below(140)];
        const isInsert = random.isTrue();
        const blank = Array.from({ length: count }, () => "");
        const map = isInsert
          ? AxisMap.insert(MAX_ROWS, first, count)
          : AxisMap.delete(MAX_ROWS, [{ first, count }]);
        rows = isInsert
          ? [...rows.slice(0, first), ...blank, ...rows.slice(first)]
          : [...rows.slice(0, first), ...rows.slice(first + count)];
        cache.move(0, "rows", map);
        for (let row = 0; row < 300; row += 1) {
          if (!cache.isLoaded(0, row, 3)) continue;
          expect(cache.get(0, row, 3)?.text ?? "", `seed ${seed} row ${row}`).toBe(rows[row] ?? "");
        }
      }
    }
  });

  it("keeps what it has loaded when a row is inserted above", () => {
    const cache = new BlockCache();
    cache.put(fullBlock(128, 0, [[130, 1, "x"]]));
    cache.move(0, "rows", AxisMap.insert(MAX_ROWS, 5, 1));
    expect(cache.get(0, 131, 1)?.text).toBe("x");
    expect(cache.isLoaded(0, 256, 0)).toBe(true);
    expect(cache.isLoaded(0, 128, 0)).toBe(false);
  });
});
