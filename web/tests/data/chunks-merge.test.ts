import { describe, expect, it } from "vitest";
import { windowOf, type WindowRange } from "../../src/data/chunks/merge";
import { readRoot, type Root } from "../../src/data/chunks/root";
import { cborOf, tileOf } from "./chunks-support";
import { SeededRandom } from "./random";

const [ROWS, COLUMNS] = [40, 6];
const NOTHING = { index: () => undefined, tile: () => undefined };

/** A level as plainly as possible: what it does to each row and column, and to each cell. */
interface PlainLevel {
  /** The older row of each row, or -1 if it was inserted. */
  rows: number[];
  columns: number[];
  hidden: { rows: [number, number]; columns: [number, number] }[];
  cells: Map<string, string | null>;
}

/** Inserts and deletes some lines at random. Lines beyond the tested ones are consecutive. */
function randomLines(random: SeededRandom, count: number): number[] {
  const lines = Array.from({ length: count + 20 }, (_, line) => line);
  for (let change = random.below(3); change > 0; change -= 1) {
    const at = random.below(count);
    if (random.isTrue()) lines.splice(at, 1 + random.below(3));
    else lines.splice(at, 0, ...new Array<number>(1 + random.below(3)).fill(-1));
  }
  return lines;
}

function randomLevel(random: SeededRandom, name: string): PlainLevel {
  const cells = new Map<string, string | null>();
  for (let count = random.below(60); count > 0; count -= 1) {
    const [row, column] = [random.below(ROWS), random.below(COLUMNS)];
    cells.set(`${row}:${column}`, random.below(5) === 0 ? null : `${name} ${count}`);
  }
  const span = (limit: number): [number, number] => [random.below(limit), 1 + random.below(6)];
  const hidden = Array.from({ length: random.below(3) }, () => ({ rows: span(ROWS), columns: span(COLUMNS) }));
  return { rows: randomLines(random, ROWS), columns: randomLines(random, COLUMNS), hidden, cells };
}

/** Reads a cell as the design describes it: from the newest level to the oldest. */
function cellOf(levels: readonly PlainLevel[], row: number, column: number): string | null {
  let [at, across] = [row, column];
  for (const level of [...levels].reverse()) {
    const found = level.cells.get(`${at}:${across}`);
    if (found !== undefined) return found;
    const isWithin = ([first, count]: [number, number], line: number) => first <= line && line < first + count;
    if (level.hidden.some(({ rows, columns }) => isWithin(rows, at) && isWithin(columns, across))) return null;
    [at, across] = [level.rows[at] ?? -1, level.columns[across] ?? -1];
    if (at < 0 || across < 0) return null;
  }
  return null;
}

/** Returns the runs of an axis map: gaps and lengths. */
function axisMap(lines: readonly number[]) {
  const runs: [number, number, number][] = [];
  let [src, dst] = [0, 0];
  lines.forEach((older, line) => {
    if (older < 0) return;
    const last = runs[runs.length - 1];
    if (last !== undefined && older === src && line === dst) last[2] += 1;
    else runs.push([older - src, line - dst, 1]);
    [src, dst] = [older + 1, line + 1];
  });
  const last = runs[runs.length - 1];
  // The last run extends to the end of the axis.
  if (last !== undefined) last[2] = 0;
  return runs;
}

function rootOf(levels: readonly PlainLevel[]): Root {
  const stored = levels.map((level, index) => {
    const regions = level.hidden.map(({ rows, columns }) => [rows, columns]);
    const moves = new Map<number, Parameters<typeof cborOf>[0]>([[0, axisMap(level.rows)], [1, axisMap(level.columns)], [2, regions], [3, []]]);
    const stripes = Array.from({ length: COLUMNS }, (_, column) => {
      const cells = [...level.cells].map(([key, text]) => [key.split(":").map(Number), text] as const);
      const ofColumn = cells.filter(([[, found]]) => found === column).sort(([[left = 0]], [[right = 0]]) => left - right);
      const tile = ofColumn.length === 0 ? Uint8Array.of(0x43, 0x63, 1, 1, 0, 0) : tileOf(0, new Map(ofColumn.map(([[row = 0], text]) => [row, text])));
      return [0, [[0, 1, 1_000, 0], [[ofColumn.length, [1, tile]]]]];
    });
    const sheet = [0, [0, moves], [0, [[0, COLUMNS, COLUMNS, 0], stripes]]];
    return new Map([...(index === 0 ? [] : ([[0, index]] as const)), [1, index + 1], [2, 0], [3, 0], [4, [sheet]]] as [number, never][]);
  });
  const sheet = new Map<number, never>([[0, 0], [1, "S"], [2, [1_000, 100]], [3, [0, []]]] as [number, never][]);
  const root = [[0, levels.length], [1, levels.length], [2, [sheet]], [3, [0, [0, 1]]], [4, stored], [7, [0, 0]]];
  return readRoot(cborOf([1, 1, new Map(root as [number, never][])]));
}

describe("levels", () => {
  it("give the cells that a search from the newest to the oldest one finds", () => {
    let found = 0;
    for (let seed = 0; seed < 300; seed += 1) {
      const random = new SeededRandom(seed);
      const levels = Array.from({ length: 1 + random.below(5) }, (_, index) => randomLevel(random, `level ${index} cell`));
      const { levels: stored } = rootOf(levels);
      const range: WindowRange = {
        firstRow: random.below(ROWS),
        rowCount: 1 + random.below(ROWS),
        firstColumn: random.below(COLUMNS),
        columnCount: 1 + random.below(COLUMNS),
      };
      const outcome = windowOf(stored, 0, range, NOTHING);
      if (outcome.kind !== "cells") throw new Error("all objects are inline");
      const shown = outcome.cells.filter(({ value }) => value !== null).map(({ row, column, value }) => [row, column, value]);
      const expected: [number, number, string][] = [];
      for (let row = range.firstRow; row < range.firstRow + range.rowCount; row += 1) {
        for (let column = range.firstColumn; column < range.firstColumn + range.columnCount; column += 1) {
          const value = cellOf(levels, row, column);
          if (value !== null) expected.push([row, column, value]);
        }
      }
      expect(shown, `seed ${seed}`).toEqual(expected);
      found += shown.length;
    }
    expect(found).toBeGreaterThan(1_500);
  }, 60_000);

  it("refuse windows that are too large", () => {
    const range = { firstRow: 0, rowCount: 2 ** 20, firstColumn: 0, columnCount: 2 };
    expect(() => windowOf([], 0, range, NOTHING)).toThrow("too large");
  });
});
