import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseRange, rangeName, cellName, columnIndex, columnName } from "../../src/grid/address";
import { editText } from "../../src/grid/cell-text";
import { parseTsv, serializeTsv, textHash } from "../../src/grid/clipboard-text";
import { fillInputs } from "../../src/grid/fill";
import { fillTarget } from "../../src/grid/fill-target";
import { MAX_COLUMNS, MAX_ROWS } from "../../src/grid/limits";
import { moveReferences } from "../../src/grid/references";

describe("tab-separated text", () => {
  test("a table survives", () => {
    const text = fc.string({ unit: fc.constantFrom("a", '"', "\t", "\n", " ", "=") });
    const table = fc.integer({ min: 2, max: 4 }).chain((width) => fc.array(fc.array(text, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 4 }));
    fc.assert(
      fc.property(table, (rows) => {
        expect(parseTsv(serializeTsv(rows) + "\r\n")).toEqual(rows);
      }),
    );
  });

  test("one trailing line break is no row; a quote inside a text is literal", () => {
    expect(parseTsv("a\tb\r\nc\td\r\n")).toEqual([["a", "b"], ["c", "d"]]);
    expect(parseTsv('"12" tall\t5')).toEqual([['"12" tall', "5"]]);
    expect(parseTsv('"a\nb"\tc')).toEqual([["a\nb", "c"]]);
  });

  test("a single cell is not quoted", () => {
    expect(serializeTsv([['say "hi"\n']])).toBe('say "hi"\n');
  });

  test("the hash ignores the line breaks that Excel changes, and nothing else", () => {
    expect(textHash("a\tb\nc")).toBe(textHash("a\tb\r\nc\r\n"));
    expect(textHash("a\tb")).not.toBe(textHash("a\tc"));
  });
});

describe("addresses", () => {
  test("names of columns and their indexes are inverse", () => {
    fc.assert(fc.property(fc.nat(MAX_COLUMNS - 1), (column) => columnIndex(columnName(column)) === column));
    expect(cellName(MAX_ROWS - 1, 27)).toBe("AB1073741824");
  });

  test("ranges, whole rows, whole columns and row numbers", () => {
    const parse = (text: string) => parseRange(text, MAX_ROWS, MAX_COLUMNS);
    expect(parse("c9:$B$2")).toEqual({ firstRow: 1, rowCount: 8, firstColumn: 1, columnCount: 2 });
    expect(parse("1,073,741,824")).toEqual({ firstRow: MAX_ROWS - 1, rowCount: 1, firstColumn: 0, columnCount: 1 });
    for (const name of ["B2", "B2:C9", "2:9", "B:C"]) expect(rangeName(parse(name)!, MAX_ROWS, MAX_COLUMNS)).toBe(name);
    for (const name of ["", "A0", "hello world", "B2:9", "A1:B2:C3", "A1073741825"]) expect(parse(name)).toBeNull();
  });
});

describe("references", () => {
  test("move, except fixed ones, texts, functions and names", () => {
    expect(moveReferences("=A1+$B2+C$3", 1, 1)).toBe("=B2+$B3+D$3");
    expect(moveReferences('="A1"&LOG10(A1)&Sheet2!A1:B2', 2, 0)).toBe('="A1"&LOG10(A3)&Sheet2!A3:B4');
    expect(moveReferences("='A1 x'!B2", 0, 1)).toBe("='A1 x'!C2");
    expect(moveReferences("=A1", -1, 0)).toBe("=#REF!");
  });
});

describe("contents as input", () => {
  test("a date of any format is read as a date again", () => {
    const date = { row: 0, column: 0, value: 45_000.5, text: "15.03.2023", format: "dd.mm.yyyy" };
    expect(editText(date)).toBe("2023-03-15 12:00:00");
    expect(editText({ ...date, value: 45_000, text: "2023/03/15", format: "yyyy/mm/dd" })).toBe("2023/03/15");
    expect(editText({ ...date, value: 0.5, text: "12:00", format: "hh:mm" })).toBe("0.5");
  });
});

describe("fill", () => {
  const source = { firstRow: 0, rowCount: 2, firstColumn: 0, columnCount: 1 };

  test("numbers continue, formulas move, texts repeat", () => {
    const target = fillTarget(source, 4, 0);
    expect(target.rowCount).toBe(5);
    const texts = (cells: string[]) => fillInputs(source, target, (row) => cells[row]!).map((cell) => cell.input);
    expect(texts(["0.1", "0.3"])).toEqual(["0.5", "0.7", "0.9"]);
    expect(texts(["=B1", "x"])).toEqual(["=B3", "x", "=B5"]);
  });

  test("dates continue by days or months; the last day of a month stays one", () => {
    const texts = (dates: string[], count: number) => {
      const range = { firstRow: 0, rowCount: dates.length, firstColumn: 0, columnCount: 1 };
      return fillInputs(range, { ...range, rowCount: dates.length + count }, (row) => dates[row]!).map((cell) => cell.input);
    };
    expect(texts(["2024-02-28"], 2)).toEqual(["2024-02-29", "2024-03-01"]);
    expect(texts(["2024/12/24", "2024/12/31"], 2)).toEqual(["2025/01/07", "2025/01/14"]);
    expect(texts(["2024-11-15", "2024-12-15"], 2)).toEqual(["2025-01-15", "2025-02-15"]);
    expect(texts(["2024-02-30"], 1)).toEqual(["2024-02-30"]);
    expect(texts(["2024-01-01", "x"], 1)).toEqual(["2024-01-01"]);
  });

  test("upwards, a series continues downwards in value", () => {
    const below = { ...source, firstRow: 3 };
    const inputs = fillInputs(below, fillTarget(below, 1, 0), (row) => String(row * 10));
    expect(inputs).toEqual([{ row: 1, column: 0, input: "10" }, { row: 2, column: 0, input: "20" }]);
  });
});
