/**
 * Decimal digits of numbers, and their rounding for display, as in `core/sheet/src/cell/decimal.rs`.
 * A number has 15 significant digits, so that 0.1 + 0.2 is exactly 0.3. Rounding is half up, on the
 * decimal digits: 1.005 becomes 1.01.
 */

/** From this number on, all digits of a number are kept. */
const FIRST_LONG_INTEGER = 1e15;

export class Decimal {
  /** Without zeros at the start and end. Empty for 0. */
  #digits: string;
  /** Number of digits before the decimal point. Negative if zeros follow the point. */
  #point: number;

  private constructor(digits: string, point: number) {
    this.#digits = digits;
    this.#point = point;
    this.#removeTrailingZeros();
  }

  static of(magnitude: number): Decimal {
    return magnitude < FIRST_LONG_INTEGER
      ? Decimal.of15Digits(magnitude)
      : Decimal.#ofScientific(magnitude.toExponential());
  }

  /** A number of 10¹⁵ or more has only 15 significant digits too. */
  static of15Digits(magnitude: number): Decimal {
    return Decimal.#ofScientific(halfToEven(magnitude));
  }

  static #ofScientific(text: string): Decimal {
    const [mantissa = "", exponent = "0"] = text.split("e");
    return new Decimal(mantissa.replace(".", ""), Number(exponent) + 1);
  }

  get isZero(): boolean {
    return this.#digits === "";
  }

  get point(): number {
    return this.#point;
  }

  clone(): Decimal {
    return new Decimal(this.#digits, this.#point);
  }

  /** Multiplies by a power of ten. */
  shift(exponent: number): void {
    if (!this.isZero) this.#point += exponent;
  }

  round(decimals: number): void {
    const kept = this.#point + decimals;
    if (kept < 0) {
      this.#digits = "";
      this.#point = 0;
      return;
    }
    const firstDropped = this.#digits[kept];
    if (firstDropped === undefined) return;
    this.#digits = this.#digits.slice(0, kept);
    if (firstDropped >= "5") this.#incrementLastDigit();
    this.#removeTrailingZeros();
  }

  #incrementLastDigit(): void {
    const kept = this.#digits.replace(/9+$/, "");
    if (kept === "") {
      this.#digits = "1";
      this.#point += 1;
      return;
    }
    this.#digits = kept.slice(0, -1) + String(Number(kept.at(-1)) + 1);
  }

  #removeTrailingZeros(): void {
    this.#digits = this.#digits.replace(/0+$/, "");
    if (this.#digits === "") this.#point = 0;
  }

  /** Number of digits of the integer part. 0 for numbers below 1. */
  get integerLength(): number {
    return Math.max(this.#point, 0);
  }

  /** Number of digits after the decimal point. */
  get decimalLength(): number {
    return Math.max(this.#digits.length - this.#point, 0);
  }

  /** Returns a digit of the integer part. Place 0 is the last one. */
  integerDigit(place: number): string {
    return this.#digit(this.integerLength - place - 1);
  }

  /** Returns a digit after the decimal point. Index 0 is the first one. */
  decimalDigit(index: number): string {
    return this.#digit(this.#point + index);
  }

  #digit(index: number): string {
    return this.#digits[index] ?? "0";
  }

  /** Returns the number without an exponent. */
  plainText(): string {
    const places = Array.from({ length: Math.max(this.integerLength, 1) }, (_, at) => at).reverse();
    const integer = places.map((place) => this.integerDigit(place)).join("");
    const decimals = Array.from({ length: this.decimalLength }, (_, at) => this.decimalDigit(at)).join("");
    return decimals === "" ? integer : `${integer}.${decimals}`;
  }
}

/** JavaScript rounds exact ties up, and the server rounds them to an even digit. */
function halfToEven(magnitude: number): string {
  const DECIMALS = 14;
  const EXACT_DECIMALS = 40;
  const exact = magnitude.toExponential(EXACT_DECIMALS);
  const kept = exact.slice(0, DECIMALS + 2);
  const dropped = exact.slice(DECIMALS + 2, exact.indexOf("e"));
  const isTie = /^50*$/.test(dropped);
  const isEven = "02468".includes(kept.at(-1) ?? "0");
  return isTie && isEven ? kept + exact.slice(exact.indexOf("e")) : magnitude.toExponential(DECIMALS);
}
