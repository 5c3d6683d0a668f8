/** Sections that display digits (`core/sheet/src/cell/number_format/number.rs`). */

import { Decimal } from "./decimal";
import { IntegerWriter } from "./integer";
import { InvalidFormat, plainCharacter, type Placeholder, type Token } from "./token";

const PERCENT_SHIFT = 2;
/** Power of ten by which a comma after the digits divides the number. */
const COMMA_SHIFT = 3;

type Piece =
  | { kind: "literal"; text: string }
  | { kind: "integer" | "decimal" | "exponentDigit"; placeholder: Placeholder }
  | { kind: "point" }
  | { kind: "exponent"; showsPlus: boolean };

export interface Rendered {
  text: string;
  /** Whether only zeros are displayed, so that a sign is omitted. */
  isZero: boolean;
}

export class NumberLayout {
  readonly #tokens: readonly Token[];
  readonly #pieces: Piece[] = [];
  readonly #integer: Placeholder[] = [];
  readonly #decimals: Placeholder[] = [];
  readonly #exponent: Placeholder[] = [];
  #isGrouped = false;
  #shift = 0;
  #hasPoint = false;
  #hasExponent = false;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
    tokens.forEach((token, index) => this.#add(token, index));
    // At least one digit of an exponent is displayed.
    const last = this.#pieces.findLast((piece) => piece.kind === "exponentDigit");
    if (last?.kind === "exponentDigit") last.placeholder = "0";
  }

  #add(token: Token, index: number): void {
    if (token.kind === "placeholder") this.#addPlaceholder(token.placeholder);
    else if (token.kind === "point") this.#addPoint();
    else if (token.kind === "comma") this.#addComma(index);
    else if (token.kind === "exponent") this.#addExponent(token.showsPlus, index);
    else {
      const isFraction = token.kind === "slash" && this.#isPlaceholder(index - 1);
      const text = plainCharacter(token);
      if (text === undefined || isFraction) throw new InvalidFormat(`${token.kind} cannot be with digits`);
      if (token.kind === "percent") this.#shift += PERCENT_SHIFT;
      this.#pieces.push({ kind: "literal", text });
    }
  }

  #addPlaceholder(placeholder: Placeholder): void {
    const [kind, list] = this.#hasExponent
      ? (["exponentDigit", this.#exponent] as const)
      : this.#hasPoint
        ? (["decimal", this.#decimals] as const)
        : (["integer", this.#integer] as const);
    list.push(placeholder);
    this.#pieces.push({ kind, placeholder });
  }

  #addPoint(): void {
    if (this.#hasPoint || this.#hasExponent) {
      this.#pieces.push({ kind: "literal", text: "." });
      return;
    }
    this.#hasPoint = true;
    this.#pieces.push({ kind: "point" });
  }

  /** A comma between digits separates thousands, and one after them divides by 1,000. */
  #addComma(index: number): void {
    const before = this.#tokens.slice(0, index).findLast((token) => token.kind !== "comma");
    const after = this.#tokens.slice(index).find((token) => token.kind !== "comma");
    const isAfterPercent = before?.kind === "percent";
    const isBeforeDigit = after?.kind === "placeholder";
    const isLiteral =
      this.#hasExponent ||
      !(before?.kind === "placeholder" || isAfterPercent) ||
      (isAfterPercent && isBeforeDigit);
    if (isLiteral) this.#pieces.push({ kind: "literal", text: "," });
    else if (!isBeforeDigit) this.#shift -= COMMA_SHIFT;
    else if (!this.#hasPoint) this.#isGrouped = true;
  }

  #addExponent(showsPlus: boolean, index: number): void {
    const isAfterPoint = this.#tokens[index - 1]?.kind === "point" && this.#integer.length > 0;
    const isAfterDigits = this.#isPlaceholder(index - 1) || isAfterPoint;
    if (this.#hasExponent || !isAfterDigits || !this.#isPlaceholder(index + 1)) {
      throw new InvalidFormat("write an exponent as in 0.00E+00");
    }
    this.#hasExponent = true;
    this.#pieces.push({ kind: "exponent", showsPlus });
  }

  #isPlaceholder(index: number): boolean {
    return this.#tokens[index]?.kind === "placeholder";
  }

  render(magnitude: number): Rendered {
    const decimal = Decimal.of(magnitude);
    decimal.shift(this.#shift);
    let exponent = 0;
    if (this.#exponent.length === 0) decimal.round(this.#decimals.length);
    else exponent = this.#extractExponent(decimal);
    // The number after it was divided by the power of ten.
    const shown = this.#exponent.length === 0 ? decimal : this.#mantissa(decimal, exponent);
    return { text: this.#text(shown, exponent), isZero: shown.isZero };
  }

  #text(decimal: Decimal, exponent: number): string {
    const exponentWriter = new IntegerWriter(Decimal.of(Math.abs(exponent)), this.#exponent.length, false);
    const integerWriter = new IntegerWriter(decimal, this.#integer.length, this.#isGrouped);
    const shownDecimals = this.#shownDecimals(decimal);
    let decimalIndex = 0;
    const texts = this.#pieces.map((piece) => {
      switch (piece.kind) {
        case "literal":
          return piece.text;
        case "integer":
          return integerWriter.write(piece.placeholder);
        case "point":
          return `${integerWriter.rest()}.`;
        case "decimal": {
          const index = decimalIndex;
          decimalIndex += 1;
          if (index < shownDecimals) return decimal.decimalDigit(index);
          return piece.placeholder === "?" ? " " : "";
        }
        case "exponent":
          return `E${exponent < 0 ? "-" : piece.showsPlus ? "+" : ""}`;
        case "exponentDigit":
          return exponentWriter.write(piece.placeholder);
      }
    });
    return texts.join("");
  }

  #mantissa(decimal: Decimal, exponent: number): Decimal {
    const mantissa = decimal.clone();
    mantissa.shift(-exponent);
    mantissa.round(this.#decimals.length);
    return mantissa;
  }

  /** With several integer placeholders, the exponent is a multiple of their number. */
  #extractExponent(decimal: Decimal): number {
    if (decimal.isZero) return 0;
    const integerDigits = this.#integer.length;
    const step = Math.max(integerDigits, 1);
    const exponent = Math.floor((decimal.point - Math.min(integerDigits, 1)) / step) * step;
    // For example, 999.96 is rounded to 1000.0.
    return this.#mantissa(decimal, exponent).point > integerDigits ? exponent + step : exponent;
  }

  #shownDecimals(decimal: Decimal): number {
    const isShown = (placeholder: Placeholder, index: number) =>
      placeholder === "0" || decimal.decimalDigit(index) !== "0";
    return this.#decimals.findLastIndex(isShown) + 1;
  }
}
