import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { placeReferences, precedentsOf, referenceMarks } from "../../src/grid/formula-highlights";
import { cycleReferences, pointPlace, type EditedText, type Span } from "../../src/grid/formula-point";
import { tokenize } from "../../src/grid/formula-tokens";
import { cycleAbsolute, moveReferences, sheetText } from "../../src/grid/references";
import { anyFormula, anyReference } from "./formula-arbitraries";

/** What a field has after a reference was typed over a part of its text. */
function replaceSpan(text: string, span: Span, by: string): EditedText {
  const end = span.start + by.length;
  return { text: text.slice(0, span.start) + by + text.slice(span.end), selection: { start: end, end } };
}

const SHEETS = [
  { sheet: 1, name: "Sheet1", extent: { rows: 9, columns: 9 } },
  { sheet: 4, name: "It's", extent: { rows: 9, columns: 9 } },
];

/** Returns the text and the caret of a text in which `|` marks the ends of the selection. */
function caretOf(marked: string): { text: string; caret: { start: number; end: number } } {
  const [before = "", middle = "", ...after] = marked.split("|");
  const isCollapsed = after.length === 0;
  const text = marked.replaceAll("|", "");
  return { text, caret: { start: before.length, end: isCollapsed ? before.length : before.length + middle.length } };
}

function pointed(marked: string, isReplacing: boolean): string | null {
  const { text, caret } = caretOf(marked);
  const place = pointPlace(text, caret, null, isReplacing);
  return place && replaceSpan(text, place, "Z9").text;
}

describe("pointing at cells", () => {
  test.each([
    ["=|", "=Z9"],
    ["=SUM(|", "=SUM(Z9"],
    ["=SUM(|)", "=SUM(Z9)"],
    ["=A1+ |", "=A1+ Z9"],
    ["=IF(A1>|,2)", "=IF(A1>Z9,2)"],
    ["=A1:|", "=A1:Z9"],
    ["=1+|2+3|+4", "=1+Z9+4"],
    ["=-|", "=-Z9"],
    ["=@|", "=@Z9"],
    ["=SUM('It''s'!|", "=SUM(Z9"],
    ["=SUM(|\n,2)", "=SUM(Z9\n,2)"],
  ])("inserts a reference into %s", (marked, expected) => {
    expect(pointed(marked, false)).toBe(expected);
  });

  test.each(["|=1", "=1|", "=\"a|", "=\"a+|\"", "=SUM(A1)|", "='My sh|", "={1,|", "=SU|", "=+|B", "x+|", "=A1 |", "=(|SUM(1))", "=#|"])(
    "leaves %s to the keys",
    (marked) => {
      expect(pointed(marked, false)).toBeNull();
    },
  );

  test.each([
    ["=SUM(A1|)", "=SUM(Z9)"],
    ["=SUM(|A1:B$2)", "=SUM(Z9)"],
    ["=1+'It''s'!B|2*2", "=1+Z9*2"],
  ])("a click replaces the reference in %s", (marked, expected) => {
    expect(pointed(marked, true)).toBe(expected);
    if (!marked.includes("(|")) expect(pointed(marked, false)).toBeNull();
  });

  test("pointing again replaces the pointed reference, until the caret moves", () => {
    const first = replaceSpan("=1+", { start: 3, end: 3 }, "B2");
    const span = { start: 3, end: 5 };
    expect(pointPlace(first.text, first.selection, span, false)).toEqual(span);
    expect(pointPlace(`${first.text}+`, { start: 6, end: 6 }, span, false)).toEqual({ start: 6, end: 6 });
  });

  test("a pointed reference is a reference of the formula", () => {
    fc.assert(fc.property(anyFormula, anyReference, fc.nat(), (formula, reference, at) => {
      const caret = at % (formula.text.length + 1);
      const place = pointPlace(formula.text, { start: caret, end: caret }, null, true);
      if (!place) return;
      const { text } = replaceSpan(formula.text, place, reference);
      const found = tokenize(text).filter(({ kind }) => kind === "reference").map(({ start, end }) => text.slice(start, end));
      expect(found.some((one) => one.includes(reference))).toBe(true);
    }), { numRuns: 500 });
  });
});

describe("references in color", () => {
  test("the same cells have the same color, and missing cells have none", () => {
    const text = "=A1+$A$1+B:B+'IT''S'!A1+Gone!A1+#REF!+a1";
    const placed = placeReferences(tokenize(text), SHEETS, 1);
    expect(placed.map(({ color }) => color)).toEqual([0, 0, 1, 2, -1, -1, 0]);
    expect(referenceMarks(placed)).toEqual([
      { kind: "reference", color: 0, sheet: 1, firstRow: 0, rowCount: 1, firstColumn: 0, columnCount: 1 },
      { kind: "reference", color: 1, sheet: 1, firstRow: 0, rowCount: 2 ** 30, firstColumn: 1, columnCount: 1 },
      { kind: "reference", color: 2, sheet: 4, firstRow: 0, rowCount: 1, firstColumn: 0, columnCount: 1 },
    ]);
  });

  test("precedents are the cells of the references", () => {
    expect(precedentsOf("=SUM(C3:B2)*'It''s'!A1", SHEETS, 1)).toEqual([
      { sheet: 1, firstRow: 1, rowCount: 2, firstColumn: 1, columnCount: 2 },
      { sheet: 4, firstRow: 0, rowCount: 1, firstColumn: 0, columnCount: 1 },
    ]);
  });
});

describe("F4", () => {
  test.each([
    ["A1", ["$A$1", "A$1", "$A1", "A1"]],
    ["B2:c3", ["$B$2:$C$3", "B$2:C$3", "$B2:$C3", "B2:C3"]],
    ["A:B", ["$A:$B", "A:B"]],
    ["$3:4", ["3:4", "$3:$4"]],
    ["'It''s'!A$1", ["'It''s'!$A1", "'It''s'!A1"]],
    ["Data!A1", ["Data!$A$1"]],
    ["#REF!", ["#REF!"]],
  ])("%s becomes %s", (start, cycle) => {
    let text = start;
    for (const next of cycle) {
      text = cycleAbsolute(text);
      expect(text).toBe(next);
    }
  });

  test.each([
    ["=SUM(A1|)", "=SUM($A$1)", 9, 9],
    ["=A1+|B2+C3|", "=A1+$B$2+$C$3", 4, 13],
    ["=|A1", "=$A$1", 5, 5],
  ])("changes the references at the selection of %s", (marked, text, start, end) => {
    const edited = caretOf(marked);
    expect(cycleReferences(edited.text, edited.caret)).toEqual({ text, selection: { start, end } });
  });

  test("does nothing where there is no reference", () => {
    expect(cycleReferences("=SUM(1)", { start: 3, end: 3 })).toBeNull();
    expect(cycleReferences("A1", { start: 1, end: 1 })).toBeNull();
  });
});

describe("copied references", () => {
  test.each([
    ["=SUM(A:B)+3:3", 1, 1, "=SUM(B:C)+4:4"],
    ["=A:A", 5, 0, "=A:A"],
    ["='It''s'!A1+Data!$A1", 1, 1, "='It''s'!B2+Data!$A2"],
    ["=Data!A1", -1, 0, "=Data!#REF!"],
    ["=A$1:A2", -1, 0, "=A$1:A1"],
    ["=A1(2)+LOG10(1)+\"A1\"+#REF!", 1, 1, "=A1(2)+LOG10(1)+\"A1\"+#REF!"],
    ["=Sales[A1]", 1, 1, "=Sales[A1]"],
  ])("%s moved by %d rows and %d columns", (formula, rows, columns, expected) => {
    expect(moveReferences(formula, rows, columns)).toBe(expected);
  });

  test("moving back restores the cells", () => {
    const cells = (text: string) => placeReferences(tokenize(text), SHEETS, 1).map(({ range }) => range);
    fc.assert(fc.property(anyFormula, fc.nat(50), fc.nat(50), ({ text }, rows, columns) => {
      expect(cells(moveReferences(moveReferences(text, rows, columns), -rows, -columns))).toEqual(cells(text));
    }));
  });

  test.each([["Sheet1", "Sheet1"], ["Data1", "'Data1'"], ["Data", "Data"], ["It's", "'It''s'"], ["A1", "'A1'"], ["RC", "'RC'"], ["True", "'True'"], ["Ärger", "Ärger"]])(
    "a sheet name that could be read otherwise is quoted: %s",
    (name, quoted) => {
      expect(sheetText(name)).toBe(quoted);
      expect(tokenize(`=${quoted}!B2`)[1]).toMatchObject({ kind: "reference", sheet: name });
    },
  );
});
