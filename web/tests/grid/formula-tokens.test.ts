import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { areaRange } from "../../src/grid/formula-area";
import { tokenize, type Token } from "../../src/grid/formula-tokens";
import { anyFormula, anyReference } from "./formula-arbitraries";

const ROOT = new URL("../../../", import.meta.url);

function kinds(text: string): string {
  return tokenize(text).map((token) => `${token.kind}:${text.slice(token.start, token.end)}`).join(" ");
}

function references(text: string): string[] {
  return tokenize(text).filter((token) => token.kind === "reference").map((token) => text.slice(token.start, token.end));
}

/** Fails if the tokens do not cover the text in order and without gaps. */
function expectCover(text: string, tokens: readonly Token[]): void {
  const ends = [0, ...tokens.map((token) => token.end)];
  const isCover = ends.at(-1) === text.length && tokens.every((token, index) => token.start === ends[index] && token.end > token.start);
  expect(isCover ? "" : text).toBe("");
}

describe("tokens of a formula", () => {
  test.each([
    ["=SUM(Data!$A1:B2, \"A1\", LOG10(é), 3:4)+Ä1&A1", ["Data!$A1:B2", "3:4", "A1"]],
    ["=a1!B2+A1<>-1", ["a1!B2", "A1"]],
    ["='It''s'!A1+''!A1", ["'It''s'!A1"]],
    ["=sum( $a$1 : b$2 , 3 )", ["$a$1 : b$2"]],
    ["=c:$a+5:$3", ["c:$a", "5:$3"]],
    ["=a1:index(b:b,3)", ["a1", "b:b"]],
    ["=#ref!A1+Data!#REF!", ["#ref!A1", "Data!#REF!"]],
    ["=ABCD1+ABCDEF1+A1073741825+A0+R1C1+A01", ["ABCD1", "A01"]],
    ["=Sheet1:Sheet3!A1+[1]Sheet1!a1+Sales[[#This Row],[a1]]+'C:\\[a.xlsx]b'!A1", []],
    ["=A1:B2 B1:C3", ["A1:B2", "B1:C3"]],
    ["=LOG10(1)+A1B+A1(2)", []],
    ["=A1:3", ["A1"]],
    ["C4/0", ["C4"]],
  ])("finds the references of %s", (text, expected) => {
    expect(references(text)).toEqual(expected);
  });

  test.each([
    ["", ""],
    ["=", "start:="],
    ["=SU", "start:= name:SU"],
    ["=SUM(", "start:= function:SUM open:("],
    ["=SUM (A1", "start:= function:SUM space:  open:( reference:A1"],
    ["=\"a\"\"", "start:= text:\"a\"\""],
    ["='My sh", "start:= unknown:'My sh"],
    ["='My sheet'!", "start:= sheet:'My sheet'!"],
    ["=Data!+1", "start:= sheet:Data! operator:+ number:1"],
    ["=A1#+@b:b%", "start:= reference:A1 spill:# operator:+ at:@ reference:b:b percent:%"],
    ["=5#", "start:= number:5 unknown:#"],
    ["={1,-2;\"x\",true}", "start:= openArray:{ number:1 comma:, operator:- number:2 semicolon:; text:\"x\" comma:, boolean:true closeArray:}"],
    ["=#N/A<=#n", "start:= error:#N/A operator:<= unknown:# name:n"],
    ["=$A+$", "start:= unknown:$A operator:+ unknown:$"],
    ["=1.5e3+.5+5.+.", "start:= number:1.5e3 operator:+ number:.5 operator:+ number:5. operator:+ unknown:."],
    ["=Sales[A", "start:= unsupported:Sales[A"],
    ["=~😀~", "start:= unknown:~😀~"],
  ])("splits %s", (text, expected) => {
    expect(kinds(text)).toBe(expected);
  });

  test("reads the cells and sheet of a reference", () => {
    const [, token] = tokenize("='It''s'!$C5:b$2");
    expect(token).toMatchObject({ sheet: "It's", area: { isRange: true } });
    expect(areaRange(token!.area!)).toEqual({ firstRow: 1, rowCount: 4, firstColumn: 1, columnCount: 2 });
    expect(areaRange(tokenize("B:B")[0]!.area!)).toEqual({ firstRow: 0, rowCount: 2 ** 30, firstColumn: 1, columnCount: 1 });
  });

  test("covers any text", () => {
    const parts = fc.constantFrom(..."=AaBz019$:!'\"#(){},;+%@ []._é😀\n".match(/./gsu)!, "#REF!", "A1", "SUM(", "'a b'!");
    fc.assert(fc.property(fc.oneof(fc.string({ unit: "grapheme" }), fc.array(parts, { maxLength: 30 }).map((all) => all.join(""))), (text) => {
      expectCover(text, tokenize(text));
    }), { numRuns: 2_000 });
  });

  test("finds each reference of a valid formula, and no other", () => {
    fc.assert(fc.property(anyFormula, ({ text, references: expected }) => {
      expect(references(text)).toEqual(expected);
      expect(tokenize(text).filter((token) => token.kind === "unknown" || token.kind === "sheet")).toEqual([]);
    }), { numRuns: 1_000 });
  });

  test("finds the references that the server's parser finds", () => {
    const lines = readFileSync(new URL("formula-references.tsv", import.meta.url), "utf8").trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(500);
    for (const line of lines) {
      const [json = "", spans] = line.split("\t");
      const text = JSON.parse(json) as string;
      const found = tokenize(text).filter(({ kind }) => kind === "reference").map(({ start, end }) => `${start}-${end}`);
      expect(`${text} ${found.join(" ")}`).toBe(`${text} ${spans}`);
    }
  });

  test("finds a reference while the formula is typed", () => {
    fc.assert(fc.property(anyFormula, anyReference, ({ text }, reference) => {
      expect(references(`${text}+${reference}`).at(-1)).toBe(reference);
      expect(references(`${text}*SUM(${reference}`).at(-1)).toBe(reference);
    }));
  });

  test("takes linear time for hostile texts", () => {
    const start = performance.now();
    for (const part of ["(", "A1:", "A1 ", "1.", ".1", "a:", "[", "'", "\"", "#", "#REF!", "$", "A1(", "A:", "x!", "1E", "''", "\"\""]) {
      const text = `=${part.repeat(Math.floor(8_000 / part.length))}`;
      expectCover(text, tokenize(text));
    }
    expect(performance.now() - start).toBeLessThan(2_000);
  });

  test.each(["core/formula/src/syntax/tests.rs", "core/formula/src/expression/tests.rs", "core/formula/tests/golden/template-v1.txt", "core/functions/tests/facts.txt"])(
    "covers the formulas of %s",
    (path) => {
      const source = readFileSync(new URL(path, ROOT), "utf8");
      const formulas = [...source.matchAll(/^=.+$|\t(=.+)$|"(=(?:[^"\\]|\\.)*)"/gm)].map(([all, cell, literal]) => cell ?? literal?.replace(/\\(.)/g, "$1") ?? all);
      expect(formulas.length).toBeGreaterThan(20);
      for (const text of new Set(formulas)) expectCover(text, tokenize(text));
    },
  );
});
