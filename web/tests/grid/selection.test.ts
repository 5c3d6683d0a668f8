import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { navigate, type Move, type NavigationContext } from "../../src/grid/navigation";
import { advance, contains, currentRange, pickCell, pickColumn, pickRow, selectAll, selectCell, selectRange } from "../../src/grid/selection";

const size = { rows: 100, columns: 20 };

function contextOf(filled: (row: number, column: number) => boolean | null): NavigationContext {
  return { size, extent: { rows: 50, columns: 8 }, page: { rows: 10, columns: 5 }, hasValue: filled };
}

const down: Move = { kind: "edge", direction: "down" };

describe("navigation", () => {
  test("Ctrl+arrow goes to the end of a block, then to the start of the next", () => {
    const context = contextOf((row) => row < 5 || (row >= 9 && row < 12));
    let selection = navigate(selectCell(0, 0), down, false, context);
    expect(selection.active.row).toBe(4);
    selection = navigate(selection, down, false, context);
    expect(selection.active.row).toBe(9);
    selection = navigate(selection, down, false, context);
    expect(selection.active.row).toBe(11);
    selection = navigate(selection, down, false, context);
    expect(selection.active.row).toBe(99);
  });

  test("Ctrl+arrow goes to the last used row if it meets cells that are not loaded", () => {
    const context = contextOf((row) => (row < 20 ? true : null));
    expect(navigate(selectCell(0, 0), down, false, context).active.row).toBe(49);
  });

  test("Ctrl+End goes to the last used cell, End to the last used column", () => {
    const context = contextOf(() => true);
    expect(navigate(selectCell(3, 3), { kind: "sheetEnd" }, false, context).active).toEqual({ row: 49, column: 7 });
    expect(navigate(selectCell(3, 3), { kind: "rowEnd" }, false, context).active).toEqual({ row: 3, column: 7 });
  });

  test("moves never leave the grid, and Shift keeps the active cell", () => {
    const kind = fc.constantFrom("cell" as const, "edge" as const, "page" as const);
    const direction = fc.constantFrom("up" as const, "down" as const, "left" as const, "right" as const);
    const moves = fc.array(fc.tuple(fc.record({ kind, direction }), fc.boolean()));
    fc.assert(
      fc.property(moves, (list) => {
        let selection = selectCell(7, 7);
        for (const [move, isExtending] of list) {
          const next = navigate(selection, move, isExtending, contextOf((row) => row % 3 === 0));
          if (isExtending) expect(next.active).toEqual(selection.active);
          expect(contains({ firstRow: 0, rowCount: 100, firstColumn: 0, columnCount: 20 }, next.head.row, next.head.column)).toBe(true);
          selection = next;
        }
      }),
    );
  });
});

describe("selection", () => {
  test("Tab and Enter cycle through every cell of the ranges", () => {
    const start = pickCell(pickCell(selectRange({ firstRow: 2, rowCount: 2, firstColumn: 1, columnCount: 3 }), { row: 9, column: 9 }, "add"), { row: 10, column: 9 }, "extend");
    for (const axis of ["rows", "columns"] as const) {
      const seen = new Set<string>();
      let selection = start;
      for (let step = 0; step < 8; step++) {
        seen.add(`${selection.active.row},${selection.active.column}`);
        selection = advance(selection, axis, 1, size);
      }
      expect(seen.size).toBe(8);
      expect(selection.active).toEqual(start.active);
      expect(advance(advance(start, axis, 1, size), axis, -1, size).active).toEqual(start.active);
    }
  });

  test("whole rows, whole columns and everything", () => {
    const row = pickRow(selectCell(4, 4), 6, "extend", size);
    expect(currentRange(row)).toEqual({ firstRow: 4, rowCount: 3, firstColumn: 0, columnCount: 20 });
    const column = pickColumn(row, 2, "add", size);
    expect(column.ranges).toHaveLength(2);
    expect(currentRange(column)).toEqual({ firstRow: 0, rowCount: 100, firstColumn: 2, columnCount: 1 });
    expect(selectAll(selectCell(4, 4), size).active).toEqual({ row: 4, column: 4 });
  });
});
