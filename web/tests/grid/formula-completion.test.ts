import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { callAt, completionAt } from "../../src/grid/formula-completion";
import { argumentIndex, argumentTexts, parseSignatures } from "../../src/grid/formula-functions";
import { SIGNATURES } from "../../src/grid/functions";
import { anyFormula } from "./formula-arbitraries";

const functions = parseSignatures(SIGNATURES);
const words = { functions, names: ["rate", "Sum_of_all"], sheets: ["Sheet1", "It's mine"] };
const find = (name: string) => functions.find((info) => info.name === name)!;

/** Completes the text before `|`. */
function complete(marked: string) {
  const at = marked.indexOf("|");
  return completionAt(marked.replace("|", ""), { start: at, end: at }, words);
}

describe("functions", () => {
  test("all lines are read", () => {
    expect(functions.length).toBe(SIGNATURES.split("\n").length);
    for (const info of functions) expect(info.arguments.length > 0 || ["FALSE", "NA", "NOW", "PI", "RAND", "TODAY", "TRUE"].includes(info.name)).toBe(true);
  });

  test.each([
    ["SUM", "number, …"],
    ["SUMIFS", "sum_range|range|criterion, …"],
    ["SORTBY", "array|by|[order], …"],
    ["MAP", "array, …|lambda"],
    ["LET", "name|value, …|calculation"],
    ["LAMBDA", "[parameter], …|calculation"],
    ["IF", "condition|[then]|[else]"],
    ["PI", ""],
  ])("shows the arguments of %s", (name, expected) => {
    expect(argumentTexts(find(name)).join("|")).toBe(expected);
  });

  test.each([
    ["SUM", [0, 0, 0]],
    ["SUMIFS", [0, 1, 2, 1, 2, 1]],
    ["IF", [0, 1, 2, -1]],
    ["NPV", [0, 1, 1, 1]],
    ["PI", [-1]],
  ])("knows which argument of %s is written", (name, expected) => {
    expect(expected.map((_, argument) => argumentIndex(find(name), argument))).toEqual(expected);
  });
});

describe("completion", () => {
  const labels = (marked: string) => complete(marked)?.items.map(({ label }) => label);

  test("functions that start with the letters come first, older ones last", () => {
    expect(labels("=1+st|")).toEqual(["STANDARDIZE", "STDEV.P", "STDEV.S", "STDEVA", "STDEVPA", "STEYX", "STDEV", "STDEVP"]);
    expect(labels("=lookup|")).toEqual(["LOOKUP", "HLOOKUP", "VLOOKUP", "XLOOKUP"]);
  });

  test("names and sheets follow", () => {
    expect(labels("=ra|")).toEqual(["RADIANS", "RAND", "RANDARRAY", "RANDBETWEEN", "RANK.AVG", "RANK.EQ", "RATE", "RANK", "rate"]);
    expect(labels("=sum|")?.slice(-1)).toEqual(["Sum_of_all"]);
    expect(complete("=1+'It|")).toMatchObject({ span: { start: 3, end: 6 }, items: [{ text: "'It''s mine'!" }] });
    expect(complete("=she|")?.items.map(({ text }) => text)).toEqual(["SHEET(", "SHEETS(", "FISHER(", "FISHERINV(", "Sheet1!"]);
  });

  test("a parenthesis is added unless it is there", () => {
    expect(complete("=su|")?.items.find(({ label }) => label === "SUM")?.text).toBe("SUM(");
    expect(complete("=su|(A1)")?.items.find(({ label }) => label === "SUM")?.text).toBe("SUM");
  });

  test("what may be meant as it is typed is not replaced by Enter", () => {
    expect(complete("=BIN2|")).toMatchObject({ isCertain: false });
    expect(complete("=rate|")).toMatchObject({ isCertain: false });
    expect(complete("=LET(x,1,x|")).toMatchObject({ isCertain: false });
    expect(complete("=tru|")).toMatchObject({ isCertain: true });
    expect(complete("=true|")).toMatchObject({ isCertain: false });
    expect(complete("=ra|")).toMatchObject({ isCertain: true });
  });

  test.each(["|=su", "=|", "=s|u", "=A1|", "=\"su|", "=su |", "su|", "=zzz|", "=SUM(|", "=$A|", "=A1:B2|"])("nothing for %s", (marked) => {
    expect(complete(marked)).toBeNull();
  });

  test("an item replaces exactly the word, at any place of any formula", () => {
    fc.assert(fc.property(anyFormula, fc.nat(), ({ text }, at) => {
      const caret = at % (text.length + 1);
      const found = completionAt(text, { start: caret, end: caret }, words);
      if (!found) return;
      expect(found.span.end).toBe(caret);
      const typed = text.slice(found.span.start, caret).toLowerCase();
      for (const { label } of found.items) expect(label.toLowerCase()).toContain(typed);
    }));
  });
});

describe("the call at the caret", () => {
  test.each([
    ["=SUM(|", "SUM", 0],
    ["=SUM(1,2,|3)", "SUM", 2],
    ["=IF(SUM(1,2)>3,|", "IF", 1],
    ["=IF(SUM(1,2|)>3", "SUM", 1],
    ["=SUM((A1,B2|", "SUM", 0],
    ["=SUM({1,2,3|", "SUM", 0],
    ["=SUM(\"a,b\",|", "SUM", 1],
    ["=sum (A1,|", "sum", 1],
    ["=IF(,,|", "IF", 2],
  ])("%s", (marked, name, argument) => {
    expect(callAt(marked.replace("|", ""), marked.indexOf("|"))).toEqual({ name, argument });
  });

  test.each(["=SUM|(1)", "=SUM(1)|", "=(|1)", "SUM(|", "=LAMBDA(x,x)(|"])("no call in %s", (marked) => {
    expect(callAt(marked.replace("|", ""), marked.indexOf("|"))).toBeNull();
  });
});
