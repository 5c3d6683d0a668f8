/** Sections that display fractions, such as `# ?/?` (`core/sheet/src/cell/number_format/fraction.rs`). */

import { Decimal } from "./decimal";
import { integerText } from "./integer";
import { InvalidFormat, type Placeholder, type Token } from "./token";

const MAX_DENOMINATOR_DIGITS = 7;
/** Two numbers that differ by less than this are displayed as the same fraction. */
const PRECISION = 0.000_000_05;

type Denominator = { text: string; value: number } | { placeholders: Placeholder[]; max: number };

/** Returns the index of the slash if the tokens are a fraction, otherwise -1. */
export function findSlash(tokens: readonly Token[]): number {
  const isNoSpace = (token: Token) => !(token.kind === "literal" && token.text === " ");
  return tokens.findIndex((token, index) => {
    const before = tokens.slice(0, index).findLast(isNoSpace);
    const after = tokens.slice(index + 1).find(isNoSpace);
    const isBeforeDigit = after?.kind === "placeholder" || after?.kind === "digit";
    return token.kind === "slash" && before?.kind === "placeholder" && isBeforeDigit;
  });
}

export class FractionLayout {
  readonly #before: string;
  /** Empty if the fraction may be improper, such as 7/2. */
  readonly #integer: Placeholder[] = [];
  #isGrouped = false;
  readonly #separator: string;
  readonly #numerator: Placeholder[];
  readonly #slash: string;
  readonly #denominator: Denominator;
  readonly #after: string;

  constructor(tokens: readonly Token[], slash: number) {
    const isSpace = (token: Token) => token.kind === "literal" && token.text === " ";
    const isLiteral = (token: Token) => token.kind === "literal";
    const isPlaceholder = (token: Token) => token.kind === "placeholder";
    const isDigit = (token: Token) => token.kind === "placeholder" || token.kind === "digit";
    const [toSpaces, spacesBefore] = splitEnd(tokens.slice(0, slash), isSpace);
    const [toNumerator, numerator] = splitEnd(toSpaces, isPlaceholder);
    const [spacesAfter, fromDenominator] = splitStart(tokens.slice(slash + 1), isSpace);
    const [denominator, after] = splitStart(fromDenominator, isDigit);
    const [toSeparator, separator] = splitEnd(toNumerator, isLiteral);
    const [before, integer] = splitStart(toSeparator, isLiteral);
    this.#before = literalText(before);
    for (const token of integer) this.#addInteger(token);
    this.#separator = literalText(separator);
    this.#numerator = placeholdersOf(numerator);
    this.#slash = `${literalText(spacesBefore)}/${literalText(spacesAfter)}`;
    this.#denominator = denominatorOf(denominator);
    this.#after = literalText(after);
  }

  #addInteger(token: Token): void {
    if (token.kind === "placeholder") this.#integer.push(token.placeholder);
    else if (token.kind === "comma" && this.#integer.length > 0) this.#isGrouped = true;
    else throw new InvalidFormat("write a fraction as in # ?/?");
  }

  render(magnitude: number): string {
    const whole = Math.trunc(magnitude);
    let [numerator, denominator] = approximate(this.#denominator, magnitude - whole);
    let integer = "";
    if (this.#integer.length === 0) numerator += whole * denominator;
    else {
      const hasCarry = numerator >= denominator;
      const shown = hasCarry ? whole + 1 : whole;
      if (hasCarry) numerator = 0;
      const isZero = shown === 0 && numerator === 0;
      integer = isZero ? "0" : integerText(Decimal.of(shown), this.#integer, this.#isGrouped);
    }
    return this.#before + integer + this.#separator + this.#fraction(numerator, denominator) + this.#after;
  }

  #fraction(numerator: number, denominator: number): string {
    const isPadded = numerator === 0 && !this.#numerator.includes("0");
    if (isPadded && this.#integer.length > 0) {
      const width = "text" in this.#denominator ? this.#denominator.text.length : this.#denominator.placeholders.length;
      return " ".repeat(this.#numerator.length + new TextEncoder().encode(this.#slash).length + width);
    }
    const shown = isPadded
      ? `${" ".repeat(Math.max(this.#numerator.length - 1, 0))}0`
      : integerText(Decimal.of(numerator), this.#numerator, false);
    return shown + this.#slash + denominatorText(this.#denominator, denominator);
  }
}

function denominatorOf(tokens: readonly Token[]): Denominator {
  if (tokens.length > MAX_DENOMINATOR_DIGITS || tokens.length === 0) throw new InvalidFormat("the denominator is too long");
  if (!tokens.some((token) => token.kind === "digit")) {
    return { placeholders: placeholdersOf(tokens), max: 10 ** tokens.length - 1 };
  }
  const digits = tokens.map((token) => {
    if (token.kind === "digit") return token.text;
    if (token.kind === "placeholder" && token.placeholder === "0") return "0";
    throw new InvalidFormat("write a fraction as in # ??/100");
  });
  return { text: digits.join(""), value: Number(digits.join("")) };
}

/** Spaces are after the digits, so that slashes are aligned. */
function denominatorText(denominator: Denominator, value: number): string {
  if ("text" in denominator) return denominator.text;
  const { placeholders } = denominator;
  const digits = Decimal.of(value);
  const count = (wanted: Placeholder) => placeholders.filter((placeholder) => placeholder === wanted).length;
  const shownLength = Math.max(digits.integerLength, count("0"));
  const places = Array.from({ length: shownLength }, (_, index) => digits.integerDigit(shownLength - 1 - index));
  const padding = Math.min(Math.max(placeholders.length - shownLength, 0), count("?"));
  return places.join("") + " ".repeat(padding);
}

function approximate(denominator: Denominator, fraction: number): [number, number] {
  if ("text" in denominator) return [Math.round(fraction * denominator.value), denominator.value];
  return bestFraction(fraction, denominator.max);
}

/** Returns the last convergent of the continued fraction whose denominator is at most `max`. */
function bestFraction(fraction: number, max: number): [number, number] {
  let previous: [number, number] = [0, 1];
  let current: [number, number] = [1, 0];
  let remainder = fraction;
  for (;;) {
    const term = Math.floor(remainder);
    const next: [number, number] = [term * current[0] + previous[0], term * current[1] + previous[1]];
    if (next[1] > max) return current;
    if (remainder - term < PRECISION || next[1] >= max) return next;
    remainder = 1 / (remainder - term);
    previous = current;
    current = next;
  }
}

function literalText(tokens: readonly Token[]): string {
  const texts = tokens.map((token) => {
    if (token.kind !== "literal") throw new InvalidFormat("write a fraction as in # ?/?");
    return token.text;
  });
  return texts.join("");
}

function placeholdersOf(tokens: readonly Token[]): Placeholder[] {
  return tokens.flatMap((token) => (token.kind === "placeholder" ? [token.placeholder] : []));
}

type Accepts = (token: Token) => boolean;

function splitEnd(tokens: readonly Token[], accepts: Accepts): [readonly Token[], readonly Token[]] {
  const start = tokens.findLastIndex((token) => !accepts(token)) + 1;
  return [tokens.slice(0, start), tokens.slice(start)];
}

function splitStart(tokens: readonly Token[], accepts: Accepts): [readonly Token[], readonly Token[]] {
  const end = tokens.findIndex((token) => !accepts(token));
  return end < 0 ? [tokens, []] : [tokens.slice(0, end), tokens.slice(end)];
}
