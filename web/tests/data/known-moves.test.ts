import { describe, expect, test } from "vitest";
import { KnownMoves, mapRange } from "../../src/data/known-moves";
import { decodeEntry } from "../../src/data/decode-operation";
import { AxisMap } from "../../src/data/axis-map";
import { MAX_KNOWN_MOVES, MAX_ROWS } from "../../src/data/limits";

function entry(position: number, op: Record<string, unknown>, isExternal = false) {
  const external = isExternal ? { external_body: "key" } : {};
  return decodeEntry({ position, kind: "edits", mutations: [{ id: 1, base: position - 1, op }], ...external });
}

const insert = (position: number, before: number, count = 1, sheet = 0) => entry(position, { insertRows: { sheet, before, count } });
const range = (firstRow: number, rowCount = 1) => ({ sheet: 0, firstRow, rowCount, firstColumn: 2, columnCount: 3 });

describe("moves of a selection", () => {
  test("follow the entries after its position", () => {
    const moves = new KnownMoves(10);
    for (const next of [insert(11, 0, 5), insert(12, 0, 7, 1), entry(13, { deleteColumns: { sheet: 0, spans: [{ first: 0, count: 1 }] } })]) moves.add(next);
    expect(moves.moved(range(4), 10)).toEqual({ ...range(9), firstColumn: 1 });
    expect(moves.moved(range(4), 11)).toEqual({ ...range(4), firstColumn: 1 });
    expect(moves.moved({ ...range(4), sheet: 1 }, 11)).toEqual({ ...range(11), sheet: 1 });
    expect(moves.moved(range(4), 13)).toEqual(range(4));
  });

  test("keep rows that were inserted between, and drop what was deleted", () => {
    const moves = new KnownMoves(0);
    moves.add(insert(1, 5, 2));
    expect(moves.moved(range(4, 3), 0)).toEqual(range(4, 5));
    moves.add(entry(2, { deleteRows: { sheet: 0, spans: [{ first: 4, count: 3 }] } }));
    expect(moves.moved(range(4, 3), 0)).toEqual(range(4, 2));
    expect(moves.moved(range(4, 1), 0)).toBeUndefined();
  });

  test("are unknown before the first entry that was read, until earlier ones are", () => {
    const moves = new KnownMoves(10);
    moves.add(insert(11, 0));
    expect(moves.moved(range(4), 7)).toBeUndefined();
    expect(moves.canReach(7)).toBe(true);
    moves.prepend(7, [insert(8, 0, 10)]);
    expect(moves.moved(range(4), 7)).toBeUndefined();
    moves.prepend(7, [insert(8, 0, 10), insert(9, 0, 100), insert(10, 0, 1_000), insert(11, 0)]);
    expect(moves.moved(range(4), 7)).toEqual(range(1_115));
    expect(moves.moved(range(4), 9)).toEqual(range(1_005));
    expect(moves.canReach(7)).toBe(false);
  });

  test("end at an entry whose operations are elsewhere", () => {
    const moves = new KnownMoves(0);
    moves.add(insert(1, 0));
    moves.add(entry(2, { setCells: { sheet: 0, cells: [] } }, true));
    expect(moves.moved(range(4), 1)).toBeUndefined();
    expect(moves.moved(range(4), 2)).toEqual(range(4));
    moves.prepend(0, [insert(1, 0), entry(2, { setCells: { sheet: 0, cells: [] } }, true)]);
    expect(moves.moved(range(4), 0)).toBeUndefined();
  });

  test("are kept for a limited number of entries", () => {
    const moves = new KnownMoves(0);
    for (let position = 1; position <= MAX_KNOWN_MOVES + 5; position += 1) moves.add(insert(position, 0));
    expect(moves.moved(range(0), 4)).toBeUndefined();
    expect(moves.moved(range(0), 5)).toEqual(range(MAX_KNOWN_MOVES));
    expect(moves.canReach(4)).toBe(true);
  });

  test("leave out cells that were inserted, in the direction of the server", () => {
    const { rows, columns } = { rows: AxisMap.insert(MAX_ROWS, 3, 2).reversed(), columns: AxisMap.identity(100) };
    expect(mapRange(range(3, 2), { rows, columns })).toBeUndefined();
    expect(mapRange(range(2, 4), { rows, columns })).toEqual(range(2, 2));
    expect(mapRange(range(6), { rows, columns })).toEqual(range(4));
  });
});
