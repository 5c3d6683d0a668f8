import { describe, expect, it } from "vitest";
import { cellsOperations } from "../../src/data/edits";
import { MAX_REQUEST_BYTES } from "../../src/data/limits";

describe("a large edit", () => {
  it.each([
    ["numbers with formats", 100_000, (index: number) => `${index}.50`],
    ["long texts", 300, () => "ü".repeat(5_000)],
    ["empty cells", 25_000, () => ""],
  ])("of %s is split into edits that the server accepts, without a gap", (_, count, inputAt) => {
    const inputs = Array.from({ length: count }, (_, index) => ({ row: index, column: 0, input: inputAt(index) }));
    const operations = cellsOperations(1, inputs);
    if (typeof operations === "string") throw new Error(operations);
    const bytes = operations.map((operation) => new TextEncoder().encode(JSON.stringify(operation)).length);
    // The rest of a request, such as ids, needs room too.
    expect(Math.max(...bytes)).toBeLessThan(MAX_REQUEST_BYTES - 1_000);
    const rows = operations.flatMap((operation) => (operation.kind === "setCells" ? operation.cells.map(({ row }) => row) : []));
    expect(rows).toEqual(inputs.map(({ row }) => row));
  });
});
