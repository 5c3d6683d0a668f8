/** The number format `General` (`core/sheet/src/cell/general.rs`). */

import { Decimal } from "./decimal";

export const GENERAL = "General";

/** Returns the shortest text that gives the same number. */
export function generalText(number: number): string {
  return Object.is(number, -0) ? "-0" : String(number).replace("e+", "e");
}

/** Results of formulas have at most 15 significant digits, so that `=0.1+0.2` displays 0.3. */
export function resultText(number: number): string {
  const MIN_PLAIN_EXPONENT = -10;
  const MAX_PLAIN_EXPONENT = 20;
  const decimal = Decimal.of15Digits(Math.abs(number));
  if (decimal.isZero) return "0";
  const sign = number < 0 ? "-" : "";
  const exponent = decimal.point - 1;
  if (exponent >= MIN_PLAIN_EXPONENT && exponent <= MAX_PLAIN_EXPONENT) return sign + decimal.plainText();
  decimal.shift(-exponent);
  const signOfExponent = exponent < 0 ? "-" : "+";
  return `${sign}${decimal.plainText()}E${signOfExponent}${String(Math.abs(exponent)).padStart(2, "0")}`;
}
