import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LayoutShift, Mark } from "../../src/data/types";
import { MarkIndex, Marks } from "../../src/grid/marks";
import { contains, currentRange, intersect, pickCell, selectCell, selectRange, widen } from "../../src/grid/selection";
import { shiftCell, shiftRange, shiftSelection, spansOf } from "../../src/grid/shift";

const size = { rows: 1_000, columns: 50 };

const range = fc.record({
  firstRow: fc.nat(60),
  rowCount: fc.integer({ min: 1, max: 30 }),
  firstColumn: fc.nat(20),
  columnCount: fc.integer({ min: 1, max: 10 }),
});
const mark = range.map((area): Mark => ({ ...area, sheet: 1, kind: "changed" }));
const shift: fc.Arbitrary<LayoutShift> = fc.record({
  axis: fc.constantFrom("rows" as const, "columns" as const),
  at: fc.nat(90),
  count: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: -20, max: -1 })),
});

describe("marks", () => {
  test("the index finds the marks that touch a range, and no others", () => {
    fc.assert(
      fc.property(fc.array(mark, { maxLength: 40 }), range, (marks, view) => {
        const found = new MarkIndex(marks, 1).within(view, 1_000);
        const expected = marks.filter((one) => intersect(one, view) !== null);
        expect(new Set(found)).toEqual(new Set(expected));
        expect(found).toHaveLength(expected.length);
      }),
    );
  });

  test("at most the limit is drawn, and marks of other sheets are not", () => {
    const marks = Array.from({ length: 5_000 }, (_, row): Mark => ({ sheet: row % 2, firstRow: row % 7, rowCount: 1, firstColumn: 0, columnCount: 1, kind: "found" }));
    const found = new MarkIndex(marks, 1).within({ firstRow: 0, rowCount: 30, firstColumn: 0, columnCount: 9 }, 500);
    expect(found).toHaveLength(500);
    expect(found.every((one) => one.sheet === 1)).toBe(true);
  });

  test("marks of the shown sheet move with rows; a deleted one is gone", () => {
    const marks = new Marks();
    const at = (row: number, sheet: number): Mark => ({ sheet, firstRow: row, rowCount: 1, firstColumn: 0, columnCount: 1, kind: "person", label: "Ada" });
    marks.set("app", [at(5, 1), at(9, 1), at(5, 2)]);
    marks.shift(1, { axis: "rows", at: 3, count: 10 });
    expect(marks.get("app").map((one) => one.firstRow)).toEqual([15, 19, 5]);
    marks.shift(1, { axis: "rows", at: 14, count: -3 });
    expect(marks.get("app").map((one) => one.firstRow)).toEqual([16, 5]);
    expect(marks.labelsAt(1, 16, 0)).toEqual(["person Ada"]);
    expect(marks.labelsAt(1, 5, 0)).toEqual([]);
  });
});

describe("shifts", () => {
  // The cells of a range, one by one, are the reference.
  test("a range covers exactly the cells that it covered before, and those inserted inside it", () => {
    fc.assert(
      fc.property(range, shift, (area, by) => {
        const moved = shiftRange(area, by);
        let count = 0;
        for (let row = area.firstRow; row < area.firstRow + area.rowCount; row++) {
          for (let column = area.firstColumn; column < area.firstColumn + area.columnCount; column++) {
            const cell = shiftCell({ row, column }, by);
            if (!cell) continue;
            count++;
            expect(moved && contains(moved, cell.row, cell.column)).toBe(true);
          }
        }
        if (count === 0) expect(moved).toBeNull();
        else if (by.count < 0) expect(moved!.rowCount * moved!.columnCount).toBe(count);
      }),
    );
  });

  test("an insertion and its deletion are inverse", () => {
    fc.assert(
      fc.property(range, shift, (area, by) => {
        const inserted = shiftRange(area, { ...by, count: Math.abs(by.count) })!;
        expect(shiftRange(inserted, { ...by, count: -Math.abs(by.count) })).toEqual(area);
      }),
    );
  });

  test("the selection moves with its cells, and is never empty", () => {
    fc.assert(
      fc.property(range, shift, (area, by) => {
        const moved = shiftSelection(selectRange(area), by, size);
        expect(moved.ranges.length).toBeGreaterThan(0);
        expect(contains(currentRange(moved), moved.active.row, moved.active.column)).toBe(true);
      }),
    );
    const whole = shiftSelection(widen(selectCell(3, 2), "columns", size), { axis: "rows", at: 0, count: 2 }, size);
    expect(currentRange(whole).rowCount).toBe(size.rows);
  });

  test("spans of several selections do not overlap and start with the last", () => {
    const selection = pickCell(pickCell(selectRange({ firstRow: 2, rowCount: 3, firstColumn: 0, columnCount: 1 }), { row: 4, column: 5 }, "add"), { row: 9, column: 1 }, "add");
    expect(spansOf(selection.ranges, "rows")).toEqual([{ at: 9, count: 1 }, { at: 2, count: 3 }]);
  });
});
