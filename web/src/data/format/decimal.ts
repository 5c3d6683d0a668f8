/** Decimal digits of a number, at most 15 or all digits of the integer part. The twin of `cell/decimal.rs`. */

import { fifteenDigits } from "../fifteen-digits";

const FIRST_LONG_INTEGER = 1e15;

export class Decimal {
  private constructor(
    private digits: string,
    /** How many of the digits are before the point; negative if zeros follow the point. */
    public point: number,
  ) {
    this.#trim();
  }

  static of(magnitude: number): Decimal {
    const isLong = magnitude >= FIRST_LONG_INTEGER;
    const [mantissa = "0", exponent = "0"] = (isLong ? magnitude.toExponential() : fifteenDigits(magnitude)).split("e");
    return new Decimal(mantissa.replace(".", ""), Number(exponent) + 1);
  }

  copy(): Decimal {
    return new Decimal(this.digits, this.point);
  }

  get isZero(): boolean {
    return this.digits === "";
  }

  shift(exponent: number): void {
    if (!this.isZero) this.point += exponent;
  }

  /** Rounds half up. */
  round(decimals: number): void {
    const kept = this.point + decimals;
    if (kept < 0) this.digits = "";
    const isUp = (this.digits[kept] ?? "0") >= "5";
    this.digits = this.digits.slice(0, Math.max(0, kept));
    if (isUp) {
      const nines = /9*$/.exec(this.digits)?.[0].length ?? 0;
      const rest = this.digits.slice(0, this.digits.length - nines);
      this.digits = rest === "" ? "1" : rest.slice(0, -1) + String(Number(rest.slice(-1)) + 1);
      if (rest === "") this.point += 1;
    }
    this.#trim();
  }

  #trim(): void {
    this.digits = this.digits.replace(/0+$/, "");
    if (this.isZero) this.point = 0;
  }

  get integerLength(): number {
    return Math.max(0, this.point);
  }

  get decimalLength(): number {
    return Math.max(0, this.digits.length - this.point);
  }

  /** Returns a digit of the integer part; place 0 is that of the ones. */
  integerDigit(place: number): string {
    return place < this.integerLength ? (this.digits[this.integerLength - place - 1] ?? "0") : "0";
  }

  decimalDigit(index: number): string {
    return this.digits[this.point + index] ?? "0";
  }
}
