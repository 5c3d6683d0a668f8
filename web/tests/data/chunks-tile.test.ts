import { describe, expect, it } from "vitest";
import { readTile, type Tile, type TileColumn } from "../../src/data/chunks/tile";
import type { TileValue } from "../../src/data/chunks/values";
import { documentText, goldenBytes, hexBytes } from "./chunks-support";

type Items<T> = Record<number, T>;

/** The contents of a column by row. */
interface Column {
  values?: Items<TileValue>;
  formulas?: Items<string>;
  templates?: Items<string>;
  formats?: Items<string>;
}

function contentsOf(tile: Tile): Record<number, Column> {
  const items = <T>({ rows, items }: { rows: Uint32Array; items: readonly T[] }): Items<T> | undefined =>
    rows.length === 0 ? undefined : Object.fromEntries(Array.from(rows, (row, index) => [row, items[index] as T]));
  const column = ({ values, formulas, templates, formats }: TileColumn) => {
    const all = { values: items(values), formulas: items(formulas), templates: items(templates), formats: items(formats) };
    return Object.fromEntries(Object.entries(all).filter(([, found]) => found !== undefined));
  };
  return Object.fromEntries(tile.columns.map((found) => [found.column, column(found)]));
}

function byRow<T>(count: number, item: (row: number) => T, first = 0): Items<T> {
  return Object.fromEntries(Array.from({ length: count }, (_, row) => [first + row, item(row)]));
}

/** The pseudo-random numbers of the sample in `core/snapshot/src/chunk/tests/golden.rs`. */
function wild(row: number): number {
  return (Math.imul(row + 1, 2_654_435_761) ^ (Math.imul(row + 7, 40_503) >>> 3)) >>> 0;
}

describe("tiles", () => {
  it("of version 1 read as written", () => {
    const long = { preview: "It begins so", bytes: expect.any(Number), hash: expect.stringMatching(/^[0-9a-f]{64}$/) };
    const values = [null, 12.75, -0, true, { error: "#N/A" }, 'Grüße, "Welt"', "", long, 1e300];
    expect(contentsOf(readTile(goldenBytes("chunk-tile-v1.hex")))).toEqual({
      2: {
        values: Object.fromEntries(values.map((value, index) => [4 + 3 * index, value])),
        formulas: { 7: "=A1*2", 16: "=NA()" },
        formats: { 7: "0.00", 8: "General", 1000: "0.00" },
      },
      3: {
        values: byRow(20, (row) => ((row * row) % 7) / 4, 4),
        formulas: byRow(20, (row) => `=B${row}/4`, 4),
        formats: byRow(20, () => "0.00", 4),
      },
      [2 ** 22 - 1]: { formats: { [2 ** 30 - 1]: "yyyy-mm-dd" } },
    });
  });

  it("of version 2 have templates of formulas", () => {
    expect(contentsOf(readTile(goldenBytes("chunk-tile-v2.hex")))).toEqual({
      1: {
        values: byRow(40, (row) => row / 4, 2),
        templates: byRow(40, () => "=\u{1}r0c-1\u{2}*\u{1}R0C0\u{2}", 2),
      },
      4: {
        values: Object.fromEntries(Array.from({ length: 7 }, (_, row) => [row * 3, row % 2 === 0])),
        formulas: { 3: "=SUM(", 9: "no formula" },
        templates: {
          6: "=SUM(\u{1}r-4c0:R1C3\u{2})+\u{1}'No sheet'!x\u{2}",
          12: "=\u{1}7!r-1:r1\u{2}&\u{1}C3:c2\u{2}",
        },
        formats: { 12: "0.00" },
      },
    });
  });

  it("without cells are read", () => {
    expect(readTile(goldenBytes("chunk-tile-v1-empty.hex"))).toEqual({ columns: [] });
  });

  it("of the example in the document have its cells", () => {
    const example = documentText("chunk-format.md").split("```hex\n")[1]?.split("```")[0] ?? "";
    const bytes = hexBytes(example.split("\n").map((line) => line.split("|")[0]).join(""));
    expect(contentsOf(readTile(bytes))).toEqual({
      0: { values: { 2: 9.5, 3: 12.75, 4: 20 }, formulas: { 4: "=B4*2" }, formats: byRow(3, () => "0.00", 2) },
      3: { values: { 2: null, 4: "né" } },
    });
  });
});

describe("a tile with every form", () => {
  const word = (row: number) => ["alpha", "beta", "", "gamma", "delta"][wild(row) % 5] ?? "";
  const bitmapRows = Array.from({ length: 600 }, (_, row) => row).filter((row) => wild(row) % 9 !== 0);
  const expected: Record<number, Column> = {
    0: { values: byRow(1_300, (row) => wild(row) % 1_000) },
    1: { values: byRow(200, (row) => row * 3 - 50) },
    2: { values: byRow(200, (row) => row * row) },
    3: { values: byRow(300, (row) => (wild(row) % 10_000) / 100) },
    4: { values: byRow(300, (row) => (row === 250 ? -0 : row * 5 + (wild(row) % 4))) },
    5: { values: byRow(100, (row) => wild(row) / 7) },
    6: { values: byRow(100, (row) => (1 + Math.floor(row / 20)) / 3) },
    7: { values: byRow(200, (row) => (wild(row) % 3) / 7) },
    8: { values: byRow(300, (row) => (row % 50 === 3 ? 1_000_000_000 + (wild(row) % 9) : 5)) },
    9: { values: byRow(5, (row) => (wild(row) % 5) - 2) },
    10: { values: Object.fromEntries(Array.from({ length: 40 }, (_, row) => [row * row * 1_000, row % 3 === 0])) },
    11: {
      values: Object.fromEntries(bitmapRows.map((row) => [row, wild(row) % 5 === 0 ? { error: "#REF!" } : null])),
      formats: Object.fromEntries(bitmapRows.map((row) => [row, ["0", "0.00", "General"][wild(row) % 3] ?? ""])),
    },
    12: { values: byRow(300, (row) => `name ${wild(row) % 7}`) },
    13: { values: byRow(100, (row) => `/a/path/to/${String(row).padStart(5, "0")}`) },
    14: { values: byRow(150, (row) => [word(row), word(row + 500), word(row * 3), word(row * 7 + 1)].join(" ")) },
    15: { values: byRow(40, (row) => wild(row).toString(16)) },
  };

  it("reads as written", () => {
    const contents = contentsOf(readTile(goldenBytes("chunk-tile-v1-every-form.hex")));
    for (const [column, items] of Object.entries(expected)) {
      expect(contents[Number(column)], `column ${column}`).toEqual(items);
    }
    expect(Object.keys(contents)).toEqual(Object.keys(expected));
  });
});
