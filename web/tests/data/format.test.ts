import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatted } from "../../src/data/format/index";
import { displayText, generalText, needsFormatter } from "../../src/data/text";

/** The facts with which the server is tested. */
const FACTS = readFileSync(new URL("../../../tests/golden/number-formats.tsv", import.meta.url), "utf8");

describe("number formats", () => {
  it("are displayed alike with and without the code for all formats", () => {
    const numbers = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.double({ min: -3e6, max: 3e6, noNaN: true }),
      fc.integer({ min: -9_999_999, max: 9_999_999 }).map((thousandths) => thousandths / 1_000),
    );
    const formats = fc.constantFrom("0", "0.0", "0.00", "0.0000000", "#,##0", "#,##0.00", "0%", "0.00%", "yyyy-mm-dd", "yyyy/mm/dd", "yyyy-mm-ddThh:mm:ss");
    fc.assert(
      fc.property(numbers, formats, (number, format) => {
        if (needsFormatter(number, format)) return;
        expect(displayText(number, format)).toBe(formatted(number, format, generalText) ?? generalText(number));
      }),
      { numRuns: 5_000 },
    );
  });

  it("display what the server displays", () => {
    const differences: string[] = [];
    const lines = FACTS.trimEnd().split("\n");
    for (const line of lines) {
      const [code, value, expected] = line.split("\t").map((part): unknown => JSON.parse(part)) as [string, number | string, string];
      const shown = formatted(value, code, generalText) ?? (typeof value === "string" ? value : generalText(value));
      if (shown !== expected) differences.push(`${code} ${JSON.stringify(value)}: ${JSON.stringify(shown)} instead of ${JSON.stringify(expected)}`);
    }
    expect(lines.length).toBeGreaterThan(5_000);
    expect(differences).toEqual([]);
  });
});
