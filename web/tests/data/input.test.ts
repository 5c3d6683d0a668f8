import { beforeAll, describe, expect, it } from "vitest";
import { parseInput } from "../../src/data/input";
import { displayText, loadFormatter } from "../../src/data/text";

describe("typed input", () => {
  it.each([
    ["12", { value: 12 }],
    ["-89.23450472", { value: -89.23450472 }],
    ["0.0", { value: 0, format: "0.0" }],
    ["12.80", { value: 12.8, format: "0.00" }],
    ["TRUE", { value: true }],
    ["#N/A", { value: { error: "#N/A" } }],
    ["2012/01/01", { value: 40_909, format: "yyyy/mm/dd" }],
    ["2006-01-01", { value: 38_718, format: "yyyy-mm-dd" }],
    ["2012-01-01T12:00:00", { value: 40_909.5, format: "yyyy-mm-ddThh:mm:ss" }],
    ["=sum(A1:A3)", { formula: "=sum(A1:A3)" }],
    ["'=A1", { value: "=A1" }],
    ["'007", { value: "007" }],
    ["", { value: null }],
  ])("%j is recognised", (text, expected) => {
    expect(parseInput(text)).toEqual(expected);
  });

  it.each([
    "0E8", "007", "+5", "1e5", "1,000", "NaN", "inf", "-", ".", "1.", ".5", "--1", "1-2", "true",
    "12345678901234567890", "2012/02/30", "2012/1/1", "01/02/2012", "2012-01-01T24:00:00", " 1", "1 ",
    "1899-12-31", "1900-02-28", "0.1000000000000000055511", " =A1",
  ])("%j remains text", (text) => {
    expect(parseInput(text)).toEqual({ value: text });
  });

  it("that is too long for a cell is refused", () => {
    expect(parseInput("x".repeat(65_536))).toEqual({ value: "x".repeat(65_536) });
    expect(parseInput("x".repeat(65_537))).toBeUndefined();
    expect(parseInput(`=${"1".repeat(8_192)}`)).toBeUndefined();
  });
});

describe("displayed texts", () => {
  beforeAll(loadFormatter);

  it.each([
    [1234.5, "#,##0.00", "1,234.50"],
    [1.005, "0.00", "1.01"],
    [-0.001, "0.00", "0.00"],
    [0.256, "0%", "26%"],
    [1e21, "General", "1e21"],
    [46_023, "yyyy-mm-dd", "2026-01-01"],
    [46_023.5, "d mmm yyyy hh:mm", "1 Jan 2026 12:00"],
    [7, "some other format", "7"],
    [null, "0", ""],
  ])("of %j as %s is %s", (value, format, text) => {
    expect(displayText(value, format)).toBe(text);
  });
});
