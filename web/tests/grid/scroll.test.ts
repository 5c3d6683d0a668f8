import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Axis } from "../../src/grid/axis";
import { MAX_ROWS } from "../../src/grid/limits";
import { maxOffset, rowOffset, scroll, SCROLL_START, type ScrollContext } from "../../src/grid/scroll";
import { offsetOfTrack, trackLength, trackOfOffset } from "../../src/grid/track";

const VIEWPORT = 600;

function contextOf(rowCount: number): ScrollContext {
  return { rows: new Axis(rowCount, 24), columns: new Axis(100, 100), width: 800, height: VIEWPORT, frozenRows: 0 };
}

function trackOf(context: ScrollContext, maxLength: number) {
  return {
    travel: Math.max(0, trackLength(context.rows.length, maxLength) - VIEWPORT),
    maxOffset: maxOffset(context.rows, VIEWPORT),
  };
}

const sizes = fc.dictionary(fc.integer({ min: 0, max: 99 }).map(String), fc.integer({ min: 1, max: 300 }));

describe("axis", () => {
  test("offsets and indexes are inverse, with sizes other than the default", () => {
    fc.assert(
      fc.property(sizes, fc.integer({ min: 0, max: 99 }), fc.double({ min: 0, max: 0.99, noNaN: true }), (some, index, part) => {
        const axis = new Axis(100, 50, new Map(Object.entries(some).map(([key, size]) => [Number(key), size])));
        const offset = axis.offsetOf(index) + part * axis.sizeOf(index);
        expect(axis.indexAt(offset)).toBe(index);
        expect(axis.offsetOf(index + 1)).toBe(axis.offsetOf(index) + axis.sizeOf(index));
        expect(axis.offsetOf(100)).toBe(axis.length);
      }),
    );
  });

  test("sizes move with inserted and deleted indexes", () => {
    const axis = new Axis(100, 50, new Map([[10, 80]]));
    expect(axis.withInserted(3, 5).sizeOf(15)).toBe(80);
    expect(axis.withDeleted(3, 5).sizeOf(5)).toBe(80);
    expect(axis.withDeleted(8, 5).length).toBe(5_000);
  });
});

describe("track", () => {
  test("is monotonic, reaches both ends, and its inverse returns", () => {
    const position = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: MAX_ROWS }), position, position, (rows, a, b) => {
        const track = trackOf(contextOf(rows), 8_000_000);
        const [low, high] = [Math.min(a, b) * track.travel, Math.max(a, b) * track.travel];
        expect(offsetOfTrack(low, track)).toBeLessThanOrEqual(offsetOfTrack(high, track));
        expect(offsetOfTrack(0, track)).toBe(0);
        expect(offsetOfTrack(track.travel, track)).toBe(track.maxOffset);
        const offset = a * track.maxOffset;
        expect(Math.abs(offsetOfTrack(trackOfOffset(offset, track), track) - offset)).toBeLessThan(track.maxOffset * 1e-6 + 1);
      }),
    );
  });
});

describe("scroll", () => {
  test("a wheel reaches every row with a scrollbar of any length", () => {
    const context = contextOf(1_000);
    const seen = new Set<number>();
    let position = SCROLL_START;
    for (let ticks = 0; ticks < 2_000; ticks++) {
      for (let row = position.row; row * 24 < rowOffset(position, context) + VIEWPORT; row++) seen.add(row);
      position = scroll(position, { kind: "by", x: 0, y: 53 }, context);
    }
    expect(seen.size).toBe(1_000);
    expect(rowOffset(position, context)).toBe(24_000 - VIEWPORT);
  });

  test("every row of the largest sheet can be revealed and is then fully visible", () => {
    const context = contextOf(MAX_ROWS);
    const row = fc.integer({ min: 0, max: MAX_ROWS - 1 });
    fc.assert(
      fc.property(row, row, (from, to) => {
        const start = scroll(SCROLL_START, { kind: "by", x: 0, y: context.rows.offsetOf(from) }, context);
        const end = scroll(start, { kind: "reveal", row: to, column: 0 }, context);
        const top = context.rows.offsetOf(to) - rowOffset(end, context);
        expect(top).toBeGreaterThanOrEqual(0);
        expect(top + 24).toBeLessThanOrEqual(VIEWPORT);
      }),
    );
  });

  test("moves one to one, at every place of the largest sheet", () => {
    const context = contextOf(MAX_ROWS);
    fc.assert(
      fc.property(fc.integer({ min: 10_000, max: MAX_ROWS - 10_000 }), fc.integer({ min: -9_000, max: 9_000 }), (row, by) => {
        const start = scroll(SCROLL_START, { kind: "by", x: 0, y: context.rows.offsetOf(row) }, context);
        const end = scroll(start, { kind: "by", x: 0, y: by }, context);
        expect(rowOffset(end, context) - rowOffset(start, context)).toBe(by);
      }),
    );
  });

  test("dragging to the ends shows the first and the last row", () => {
    const context = contextOf(MAX_ROWS);
    const track = trackOf(context, 8_000_000);
    const end = scroll(SCROLL_START, { kind: "dragRows", to: track.travel, track }, context);
    expect(context.rows.indexAt(rowOffset(end, context) + VIEWPORT - 1)).toBe(MAX_ROWS - 1);
    expect(scroll(end, { kind: "dragRows", to: 0, track }, context)).toEqual(SCROLL_START);
  });

  test("the row under the eye stays when rows are inserted or deleted above", () => {
    const before = contextOf(5_000);
    const start = scroll(SCROLL_START, { kind: "by", x: 0, y: 24 * 700 + 11 }, before);
    const grown = scroll(start, { kind: "rowsInserted", at: 3, count: 40 }, contextOf(5_040));
    expect(grown).toEqual({ ...start, row: 740 });
    const shrunk = scroll(start, { kind: "rowsDeleted", at: 3, count: 40 }, contextOf(4_960));
    expect(shrunk).toEqual({ ...start, row: 660 });
    expect(scroll(start, { kind: "rowsInserted", at: 701, count: 40 }, contextOf(5_040))).toEqual(start);
  });

  test("stays inside the sheet after any actions", () => {
    const action = fc.oneof(
      fc.record({ kind: fc.constant("by" as const), x: fc.integer(), y: fc.integer() }),
      fc.record({ kind: fc.constant("rowsDeleted" as const), at: fc.nat(999), count: fc.nat(500) }),
    );
    fc.assert(
      fc.property(fc.array(action), (actions) => {
        const context = contextOf(1_000);
        const end = actions.reduce((position, next) => scroll(position, next, context), SCROLL_START);
        expect(rowOffset(end, context)).toBeLessThanOrEqual(maxOffset(context.rows, VIEWPORT));
        expect(end.rowPixel).toBeGreaterThanOrEqual(0);
        expect(end.rowPixel).toBeLessThan(24);
      }),
    );
  });
});
