import fc from "fast-check";
import { expect, test } from "vitest";
import { roundedToFit } from "../../src/grid/rounded-number";

const within = (characters: number) => (text: string) => text.length <= characters;

test.each([
  [-89.23450472, 10, "-89.234505"],
  [-89.23450472, 6, "-89.23"],
  [-89.23450472, 3, "-89"],
  [0.000123456, 8, "0.000123"],
  [0.000000123456, 8, "1.235E-7"],
  [123456789012, 9, "1.235E+11"],
  [123456789012, 12, "123456789012"],
  [1.5, 10, "1.5"],
  [2.00000000001, 10, "2"],
  [1e300, 6, "1E+300"],
])("shows %d in %d characters as %s", (value, characters, text) => {
  expect(roundedToFit(value, within(characters))).toBe(text);
});

test("returns nothing if no notation fits", () => {
  expect(roundedToFit(-89.2, within(2))).toBeUndefined();
});

test("a shown number differs from the value by less than its last digit", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, min: -1e300, max: 1e300 }), fc.integer({ min: 3, max: 14 }), (value, characters) => {
      const text = roundedToFit(value, within(characters));
      if (text === undefined) return;
      expect(text.length).toBeLessThanOrEqual(characters);
      const decimals = /\.(\d+)/.exec(text)?.[1]?.length ?? 0;
      const exponent = Number(/E([+-]\d+)/.exec(text)?.[1] ?? 0);
      expect(Math.abs(Number(text) - value)).toBeLessThanOrEqual(10 ** (exponent - decimals) * 0.500001);
    }),
  );
});
