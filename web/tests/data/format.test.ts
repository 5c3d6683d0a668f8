import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { formatted } from "../../src/data/format/index";
import { generalText } from "../../src/data/text";

/** The facts with which the server is tested. */
const FACTS = readFileSync(new URL("../../../tests/golden/number-formats.tsv", import.meta.url), "utf8");

describe("number formats", () => {
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
