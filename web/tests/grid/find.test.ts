import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { marksOfFound, nextFound } from "../../src/grid/find";
import { freeSheetName, sheetNameProblem } from "../../src/grid/sheet-names";

describe("find", () => {
  const place = fc.record({ sheet: fc.nat(2), row: fc.nat(5), column: fc.nat(5) });
  const order = (a: { sheet: number; row: number; column: number }, b: typeof a) => a.sheet - b.sheet || a.row - b.row || a.column - b.column;

  test("next visits every found cell once and starts again; previous goes back", () => {
    const places = fc.uniqueArray(place, { minLength: 1, maxLength: 12, comparator: (a, b) => order(a, b) === 0 });
    fc.assert(
      fc.property(places, place, (cells, start) => {
        const marks = marksOfFound([...cells].sort(order));
        const visited: number[] = [];
        let at = start;
        for (let step = 0; step < cells.length; step++) {
          const index = nextFound(marks, at, 1);
          visited.push(index);
          at = { sheet: marks[index]!.sheet, row: marks[index]!.firstRow, column: marks[index]!.firstColumn };
        }
        expect(new Set(visited).size).toBe(cells.length);
        const back = nextFound(marks, at, -1);
        expect(back).toBe((visited[visited.length - 1]! - 1 + cells.length) % cells.length);
      }),
    );
  });
});

describe("names of sheets", () => {
  const extent = { rows: 0, columns: 0 };
  const sheets = ["Sheet1", "sheet3", "Data"].map((name, sheet) => ({ sheet, name, extent }));

  test("a new sheet has a free name in upper and lower case", () => {
    expect(freeSheetName(sheets)).toBe("Sheet4");
    expect(freeSheetName(sheets.slice(0, 2))).toBe("Sheet4");
  });

  test("a name that the server would refuse or change says why", () => {
    expect(sheetNameProblem("Data 2024", 2, sheets)).toBeNull();
    expect(sheetNameProblem("DATA", 2, sheets)).toBeNull();
    expect(sheetNameProblem("data", 0, sheets)).toBe("Another sheet is called data");
    expect(sheetNameProblem("a/b", 0, sheets)).toContain("cannot contain /");
    expect(sheetNameProblem("", 0, sheets)).not.toBeNull();
    expect(sheetNameProblem("x".repeat(32), 0, sheets)).toContain("31 characters");
  });
});
