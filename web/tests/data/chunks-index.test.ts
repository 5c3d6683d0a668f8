import { describe, expect, it } from "vitest";
import { CborReader } from "../../src/data/chunks/cbor";
import { readClients } from "../../src/data/chunks/clients";
import { FormatError } from "../../src/data/chunks/format-error";
import { readIndex, type IndexObject } from "../../src/data/chunks/index-object";
import { readRoot, type Level } from "../../src/data/chunks/root";
import { IndexReader, type LevelSheet, type RowIndex, type TileRef } from "../../src/data/chunks/tile-index";
import { goldenBytes, goldenObjects, outcome } from "./chunks-support";

const [MAX_ROWS, MAX_COLUMNS] = [2 ** 30, 2 ** 22];

const hash = (number: number) => number.toString(16).padStart(2, "0").repeat(32);
const chunk = (number: number) => ({ hash: hash(number), bytes: 100_000 + number });
const placed = <T>(first: number, end: number, item: T) => ({ first, end, item });

function readLevel(bytes: Uint8Array): LevelSheet[] {
  const cbor = new CborReader(bytes);
  const level = new IndexReader(cbor).level();
  cbor.end();
  return level;
}

function rowsOf(index: RowIndex | undefined) {
  return index?.kind === "tiles" ? index.tiles.all() : index?.parts.all();
}

function stripesOf({ stripes }: LevelSheet | { stripes: LevelSheet["stripes"] }) {
  if (stripes.kind === "chunk") return stripes.chunk;
  if (stripes.kind === "parts") return stripes.parts.all();
  return stripes.stripes.all().map(({ item, ...place }) => ({ ...place, item: rowsOf(item) }));
}

const tile = (number: number): TileRef => ({ cells: 1_000 * number, stored: { kind: "chunk", chunk: chunk(number) } });
const inlineTile: TileRef = { cells: 2, stored: { kind: "inline", bytes: Uint8Array.of(0xce, 0x11) } };
const firstTiles = [placed(0, 112, tile(1)), placed(112, 384, tile(2)), placed(384, 512, tile(3))];
const stripes = [
  placed(0, 128, firstTiles),
  placed(128, 256, [placed(0, 176, tile(4)), placed(176, 512, inlineTile)]),
];
const region = (first: number, count: number) => ({
  rows: [{ first, count }],
  columns: [
    { first: 1, count: 1 },
    { first: 9, count: 1 },
  ],
});
const moves = {
  rows: [
    { src: 0, dst: 0, len: 300 },
    { src: 300, dst: 302, len: MAX_ROWS - 302 },
  ],
  columns: [
    { src: 0, dst: 0, len: 5 },
    { src: 6, dst: 5, len: MAX_COLUMNS - 6 },
  ],
  valueClears: [region(0, 10)],
  formatClears: [region(70_000, 1)],
  rowEnds: [],
  columnEnds: [],
};

/** Returns the objects of a file by their names, which may repeat. */
function objects(file: string): Map<string, Uint8Array[]> {
  const found = new Map<string, Uint8Array[]>();
  for (const { name, bytes } of goldenObjects(file)) found.set(name, [...(found.get(name) ?? []), bytes]);
  return found;
}

describe("indexes of version 1", () => {
  const golden = objects("index-v1.hex");

  it("have levels", () => {
    const [inline = [], packed = []] = (golden.get("level") ?? []).map(readLevel);
    expect(inline.map(({ sheet, moves }) => ({ sheet, moves }))).toEqual([{ sheet: 3, moves: { kind: "inline", moves } }]);
    expect(inline.map(stripesOf)).toEqual([stripes]);
    expect(packed.map(({ sheet, moves }) => ({ sheet, moves }))).toEqual([
      { sheet: 3, moves: { kind: "chunk", chunk: chunk(5) } },
      { sheet: 4, moves: { kind: "chunk", chunk: chunk(5) } },
    ]);
    expect(packed.map(stripesOf)).toEqual([[placed(0, 128, chunk(9)), placed(128, 256, chunk(10))], chunk(11)]);
  });

  it("have chunks of every kind", () => {
    const [found] = (golden.get("moves") ?? []).map(readIndex);
    expect(found).toEqual({ kind: "moves", moves });
    const tiles = readIndex(golden.get("tiles")?.[0] ?? new Uint8Array());
    expect(tiles.kind === "tiles" && tiles.tiles.all()).toEqual(firstTiles);
    const second = readIndex(golden.get("stripes")?.[0] ?? new Uint8Array());
    expect(second.kind === "stripes" && second.stripes.all().map(({ item, ...place }) => ({ ...place, item: rowsOf(item) }))).toEqual([
      placed(128, 256, [placed(0, 176, chunk(7)), placed(176, 512, chunk(8))]),
    ]);
    const parts = readIndex(golden.get("parts")?.[0] ?? new Uint8Array());
    expect(parts.kind === "parts" && parts.parts.all()).toEqual([placed(0, 128, chunk(9)), placed(128, 256, chunk(10))]);
  });

  it("of imports have stripes without inline tiles", () => {
    const found = goldenObjects("import-v1.hex").map(({ bytes }) => readIndex(bytes));
    const read = found.map((object) => (object.kind === "import" ? stripesOf(object) : object.kind));
    expect(read).toEqual([[placed(0, 128, firstTiles)], [placed(0, 128, chunk(9)), placed(128, 256, chunk(10))], chunk(11)]);
  });
});

describe("indexes of version 2", () => {
  const golden = objects("index-v2.hex");
  const ends = (first: number, count: number, start: number, end: number) => ({ first, count, start, end });
  const area = (sheet: number, rows: [number, number], columns: [number, number]) => ({
    sheet,
    firstRow: rows[0],
    endRow: rows[1],
    firstColumn: columns[0],
    endColumn: columns[1],
  });

  it("have ends of ranges", () => {
    const [found] = (golden.get("moves") ?? []).map(readIndex);
    expect(found).toEqual({
      kind: "moves",
      moves: {
        ...moves,
        rows: [
          { src: 0, dst: 0, len: 300 },
          { src: 309, dst: 300, len: MAX_ROWS - 309 },
        ],
        rowEnds: [ends(300, 2, 298, 299), ends(305, 1, 300, 301)],
        columnEnds: [ends(5, 1, 7, 6)],
      },
    });
  });

  it("have what the formulas of tiles read", () => {
    const level = readLevel(golden.get("level")?.[0] ?? new Uint8Array());
    const [sheet] = level;
    const index = sheet?.stripes.kind === "stripes" ? sheet.stripes.stripes.all() : [];
    const tiles = index.flatMap(({ item }) => (item.kind === "tiles" ? item.tiles.all().map((found) => found.item) : []));
    const first = area(3, [1, 4], [0, 2]);
    const many = [area(3, [0, 272], [1, 2]), area(7, [0, MAX_ROWS], [2, 3])];
    expect(tiles.map(({ formulas }) => formulas)).toEqual([
      undefined,
      { count: 100, reads: { facts: 0, areas: [first] } },
      { count: 200, reads: { facts: 64, areas: many } },
      { count: 300, reads: { facts: 13, areas: [] } },
      { count: 400, reads: { facts: 256, areas: [] } },
    ]);
  });

  it("are refused if their version is 1, and those of version 1 if it is 2", () => {
    const chunks = [...golden].flatMap(([name, all]) => (name === "level" ? [] : all));
    for (const bytes of [...chunks, goldenBytes("import-v2.hex")]) {
      expect(bytes[2]).toBe(2);
      expect(outcome(() => readIndex(bytes))).not.toBeInstanceOf(Error);
      expect(() => readIndex(bytes.with(2, 1))).toThrow(FormatError);
    }
    for (const { name, bytes } of goldenObjects("index-v1.hex")) {
      if (name !== "level") expect(() => readIndex(bytes.with(2, 2)), name).toThrow(FormatError);
    }
  });
});

describe("roots", () => {
  const files = ["root-v1.hex", "root-v2.hex", "root-outdated.hex"];
  const [plain, named, outdated] = files.map((file) => readRoot(goldenObjects(file)[0]?.bytes ?? new Uint8Array()));
  const [first = new Uint8Array(), ...others] = goldenObjects("root-v1.hex").map(({ bytes }) => bytes);
  const formats = [
    { rows: [{ first: 1, count: 2 }, { first: 9, count: 300 }], columns: [{ first: 0, count: MAX_COLUMNS }], format: "0.00" },
    { rows: [{ first: 10, count: 1 }], columns: [{ first: 10, count: 1 }], format: "General" },
  ];
  const extent = { rows: 512, columns: 256 };

  it("have sheets, totals and levels", () => {
    const { levels = [], ...fields } = plain ?? {};
    expect(fields).toEqual({
      position: 2 ** 32 + 20,
      entries: 10_021,
      sheets: [
        { sheet: 3, name: "Grüße", extent, formats: { kind: "inline", formats } },
        { sheet: 0, name: "Sheet1", extent, formats: { kind: "chunks", chunks: [chunkOf(7)] } },
      ],
      sheetIds: { kind: "inline", spans: [{ first: 0, count: 2 }, { first: 3, count: 1 }] },
      hasLevelZero: true,
      clients: chunkOf(9),
      totals: { cells: 2_048, bytes: 5_530 },
      names: [],
    });
    const rest = ({ sheets: _, ...level }: Level) => level;
    expect(levels.map(rest)).toEqual([
      { last: 9_000, cells: 1_024, bytes: 2_765 },
      { after: 9_000, last: 2 ** 32 + 20, cells: 1_024, bytes: 2_765 },
    ]);
    const places = levels.map(({ sheets }) => sheets.map(placesOf));
    expect(places[0]).toEqual([[placed(0, 128, [[0, 112], [112, 384], [384, 512]]), placed(128, 256, [[0, 176], [176, 512]])]]);
    expect(places[1]).toEqual([[placed(0, MAX_COLUMNS, [[0, MAX_ROWS]])]]);
  });

  it("have names and outdated cells", () => {
    expect(named?.names).toEqual([
      { name: "Prices", formula: "=SUM(\u{1}3!R1C1:R9C1\u{2})" },
      { name: "TAX", formula: "=0.19" },
      { name: "x", formula: "=\u{1}0!R2:R3\u{2}+\u{1}x\u{2}" },
    ]);
    const area = (sheet: number, endRow: number, endColumn: number, firstRow = 0, firstColumn = 0) => ({
      sheet,
      firstRow,
      endRow,
      firstColumn,
      endColumn,
    });
    expect(outdated?.outdated).toEqual(
      expect.arrayContaining([area(0, 901, 4, 4, 1), area(3, MAX_ROWS, MAX_COLUMNS), area(0, 1, 8, 0, 7)]),
    );
    expect(outdated?.outdated).toHaveLength(3);
    expect(plain?.outdated).toBeUndefined();
  });

  it("have chunks of formats, numbers of sheets and clients", () => {
    const read = others.map((bytes) => outcome<IndexObject | ReturnType<typeof readClients>>(() => (bytes[1] === 8 ? readClients(bytes) : readIndex(bytes))));
    expect(read).toEqual([
      { kind: "formats", formats: formats.slice(0, 1) },
      { kind: "formats", formats: formats.slice(1) },
      { kind: "sheetIds", sheetIds: [{ first: 0, count: 2 }, { first: 3, count: 1 }] },
      [
        { key: "01".repeat(8), id: 7, createdS: 1_700_000_000 },
        { key: "02".repeat(8), id: 300, createdS: 1_700_000_060 },
      ],
    ]);
  });

  it("are refused if they are cut", () => {
    for (let length = 0; length < first.length; length += 1) {
      expect(() => readRoot(first.subarray(0, length)), `${length} bytes`).toThrow(FormatError);
    }
  });
});

function placesOf(sheet: LevelSheet) {
  const { stripes } = sheet;
  if (stripes.kind !== "stripes") return stripes;
  const rows = (index: RowIndex) => rowsOf(index)?.map(({ first, end }) => [first, end]);
  return stripes.stripes.all().map(({ item, ...place }) => ({ ...place, item: rows(item) }));
}

/** Chunks of the sample root have lengths of their own. */
function chunkOf(_number: number) {
  return { hash: expect.stringMatching(/^[0-9a-f]{64}$/), bytes: expect.any(Number) };
}
