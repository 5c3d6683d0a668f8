import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseInput } from "../../src/data/input";
import type { Cell, CellValue } from "../../src/data/types";
import { copyInput, editText, isUnreadNumber } from "../../src/grid/cell-text";
import { parseTsv } from "../../src/grid/clipboard-text";
import { summarize, summaryText } from "../../src/grid/summary";
import { selectRange } from "../../src/grid/selection";
import type { SheetSource } from "../../src/data/types";

const cellOf = (value: CellValue, format?: string): Cell => ({ row: 0, column: 0, value, text: String(value), ...(format ? { format } : {}) });

describe("what is copied or opened in the editor", () => {
  test("every text stays the same text", () => {
    const text = fc.oneof(fc.string(), fc.constantFrom("007", "TRUE", "true", "'tis", "=1", "2026-11-27", "-5", "#N/A", " 5"), fc.double().map(String));
    fc.assert(fc.property(text.filter((text) => text !== ""), (text) => {
      for (const input of [copyInput(cellOf(text)), editText(cellOf(text))]) expect(parseInput(input)).toEqual({ value: text });
    }));
  });

  test("every number stays a number with all its digits", () => {
    const number = fc.oneof(fc.double({ noDefaultInfinity: true, noNaN: true }), fc.constantFrom(1e-7, 1e21, 0.1 + 0.2, 2 ** 53, -0.5, 12_345_678.901));
    fc.assert(fc.property(number, (value) => {
      const { value: read, formula } = parseInput(copyInput(cellOf(value)))!;
      // A number that no input means is a formula.
      expect(formula === undefined ? read : Number(formula.slice(1))).toBe(value + 0 || 0);
    }));
    expect(copyInput(cellOf(12.5))).toBe("12.5");
    expect(copyInput(cellOf(1e-7))).toBe("=1e-7");
  });

  test("a text that was meant as a number or date is noticed, and no other text", () => {
    for (const text of ["5,000", "12%", "$5", "24.12.2026", "1/2/2026", "1e5", "2026-1-2", "1 000", "10:30"]) {
      expect([text, isUnreadNumber(text), typeof parseInput(text)!.value]).toEqual([text, true, "string"]);
    }
    for (const text of ["5000.50", "-3", "2026-12-24", "12 Main Street", "'5,000", "=1+2", "A1", "", "-", "007"]) expect([text, isUnreadNumber(text)]).toEqual([text, false]);
  });

  test("a letter that a format shows as it is makes no date", () => {
    expect(editText(cellOf(45_000, "0\\d"))).toBe("45000");
    expect(editText(cellOf(45_000, 'd" days"'))).toBe("2023-03-15");
  });
});

test("a quoted cell may be as long as a file", () => {
  const long = 'line "1"\n'.repeat(500_000);
  const [[first, second] = []] = parseTsv(`"${long.replaceAll('"', '""')}"\tb`);
  expect([first === long, second]).toEqual([true, "b"]);
});

test("sums have no binary noise", () => {
  const source = { extent: { rows: 1_000, columns: 1 }, isLoaded: () => true, cellAt: (row: number) => ({ ...cellOf(0.1), row }) } as unknown as SheetSource;
  const selection = selectRange({ firstRow: 0, rowCount: 1_000, firstColumn: 0, columnCount: 1 });
  const visible = { firstRow: 0, rowCount: 20, firstColumn: 0, columnCount: 5 };
  expect(summarize(selection, source, visible).sum).toBe(100);
  expect(summaryText(selection, source, visible)).toBe("Sum 100 · Average 0.1 · Count 1,000");
});
