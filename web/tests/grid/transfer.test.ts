import { describe, expect, test } from "vitest";
import type { Cell, Range, SheetChange, SheetSource } from "../../src/data/types";
import { readPaste } from "../../src/grid/clipboard-html";
import { readRange } from "../../src/grid/load-range";
import { MAX_ROWS } from "../../src/grid/limits";
import { pickCell, selectCell, selectRange } from "../../src/grid/selection";
import { pasteInto, rangeToCopy, serialize } from "../../src/grid/transfer";

function paste(text: string, selection = selectCell(0, 0)) {
  const result = pasteInto(selection, readPaste(text, ""));
  if (typeof result === "string") throw new Error(result);
  return result;
}

describe("paste", () => {
  test("a text of another program that starts with = is text, and a formula once confirmed", () => {
    const { inputs, formulas, message } = paste("=A1+1\t007\r\n");
    expect(inputs.map(({ input }) => input)).toEqual(["'=A1+1", "007"]);
    expect(formulas).toEqual([{ row: 0, column: 0, input: "=A1+1" }]);
    expect(message).toContain("1 texts");
  });

  test("an apostrophe of another program belongs to the text", () => {
    expect(paste("'tis").inputs[0]!.input).toBe("''tis");
  });

  test("one cell fills all selected ranges; a table repeats in a multiple of its size", () => {
    const two = pickCell(selectRange({ firstRow: 0, rowCount: 2, firstColumn: 0, columnCount: 2 }), { row: 9, column: 9 }, "add");
    expect(paste("x", two).inputs).toHaveLength(5);
    const four = selectRange({ firstRow: 0, rowCount: 4, firstColumn: 0, columnCount: 1 });
    expect(paste("a\nb", four).inputs.map(({ input }) => input)).toEqual(["a", "b", "a", "b"]);
  });

  test("cells after the last row are left out, with a message", () => {
    const { inputs, message } = paste("a\nb\nc", selectCell(MAX_ROWS - 2, 0));
    expect(inputs).toHaveLength(2);
    expect(message).toContain("left out");
  });

  test("too many cells are refused with their number", () => {
    const text = Array.from({ length: 101 }, () => Array(1_000).fill("1").join("\t")).join("\n");
    expect(pasteInto(selectCell(0, 0), readPaste(text, ""))).toContain("101,000 cells");
  });

  test("formulas move when copied, and read the same cells when cut", () => {
    const cell: Cell = { row: 1, column: 1, value: 2, text: "2", formula: "A2*$A$1" };
    for (const [isCut, expected] of [[false, "=C5*$A$1"], [true, "=A2*$A$1"]] as const) {
      const rows = [[cell.formula!]];
      const pasted = { rows: [[`=${rows[0]![0]}`]], origin: { row: 1, column: 1, inputs: [], isCut }, formulasAsText: false };
      const result = pasteInto(selectCell(4, 3), pasted);
      expect(typeof result === "string" ? result : result.inputs[0]!.input).toBe(expected);
    }
  });
});

describe("copy", () => {
  test("white space, markup and long numbers of texts survive in HTML", () => {
    const cells: Cell[][] = [[{ row: 0, column: 0, value: "0012", text: "0012" }, { row: 0, column: 1, value: "<b>  a\nb", text: "<b>  a\nb" }]];
    const { html, plain } = serialize({ firstRow: 0, rowCount: 1, firstColumn: 0, columnCount: 2 }, cells, false);
    expect(html).toContain(`mso-number-format:'\\@'">0012<`);
    expect(html).toContain("&lt;b&gt; &nbsp;a<br>b");
    expect(html).toContain("mso-data-placement:same-cell");
    expect(plain).toBe('0012\t"<b>  a\nb"');
  });

  test("several ranges and too many cells are refused; whole columns are cut to their used rows", () => {
    const extent = { rows: 2_000, columns: 8 };
    expect(rangeToCopy(pickCell(selectCell(0, 0), { row: 3, column: 3 }, "add"), extent)).toContain("one range");
    const column = selectRange({ firstRow: 0, rowCount: MAX_ROWS, firstColumn: 2, columnCount: 1 });
    expect(rangeToCopy(column, extent)).toMatchObject({ firstRow: 0, rowCount: 2_000 });
    expect(rangeToCopy(column, { rows: MAX_ROWS, columns: 8 })).toContain("1,073,741,824 cells");
  });
});

/** Loads what is asked for after a while, and forgets the rest, like a small cache. */
function slowSource(keptRows: number): SheetSource & { emit(change: SheetChange): void; requests: Range[] } {
  const listeners = new Set<(change: SheetChange) => void>();
  let loaded: Range | null = null;
  const isLoaded = (row: number) => loaded !== null && row >= loaded.firstRow && row < loaded.firstRow + loaded.rowCount;
  const requests: Range[] = [];
  const emit = (change: SheetChange) => [...listeners].forEach((listener) => listener(change));
  const source = {
    sheet: 1, requests, emit, isLoaded,
    cellAt: (row: number, column: number) => (isLoaded(row) ? { row, column, value: row, text: String(row) } : undefined),
    request(range: Range) {
      requests.push(range);
      expect(range.rowCount * range.columnCount).toBeLessThanOrEqual(keptRows * range.columnCount);
      setTimeout(() => {
        loaded = range;
        emit({ kind: "cells", ranges: [range] });
      }, 1);
    },
    subscribe(listener: (change: SheetChange) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  return source as unknown as ReturnType<typeof slowSource>;
}

describe("cells that are not loaded", () => {
  const range = { firstRow: 5, rowCount: 25_000, firstColumn: 0, columnCount: 2 };

  test("are read part by part", async () => {
    const cells = await readRange(range, slowSource(10_000));
    expect(cells).toHaveLength(25_000);
    expect(cells.every((row, index) => row[1]?.value === index + 5)).toBe(true);
  });

  test("are not copied if rows move meanwhile", async () => {
    const source = slowSource(10_000);
    const reading = readRange(range, source);
    source.emit({ kind: "layout" });
    await expect(reading).rejects.toThrow("moved");
  });
});
