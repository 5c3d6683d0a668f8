import { expect, test } from "vitest";
import { fifteenDigits } from "../../src/data/fifteen-digits";

test.each([
  [123456789012344.5, "1.23456789012344e+14"],
  [123456789012345.5, "1.23456789012346e+14"],
  [123456789012344.52, "1.23456789012345e+14"],
  [0.1 + 0.2, "3.00000000000000e-1"],
  [0, "0.00000000000000e+0"],
])("rounds %d to 15 digits, and an exact tie to an even digit", (value, digits) => {
  expect(fifteenDigits(value)).toBe(digits);
});
