/** Sections of number formats that display fractions, such as `# ?/?`. The twin of `number_format/fraction.rs`. */

import { Decimal } from "./decimal";
import { IntegerWriter } from "./number";
import type { Token } from "./tokens";

const MAX_DENOMINATOR_DIGITS = 7;
/** Differences below it come from the binary representation. */
const PRECISION = 5e-8;

export interface FractionLayout {
  before: string;
  integer: string[];
  isGrouped: boolean;
  separator: string;
  numerator: string[];
  slash: string;
  denominator: string[];
  /** The value of a denominator in digits. */
  fixed: number | undefined;
  after: string;
}

const isSpace = (token: Token | undefined) => token?.kind === "literal" && token.text === " ";

/** Returns the index of a slash between digits, or undefined. */
export function slashOf(tokens: readonly Token[]): number | undefined {
  const index = tokens.findIndex(({ kind }, at) => {
    const before = tokens.slice(0, at).findLast((token) => !isSpace(token))?.kind;
    const after = tokens.slice(at + 1).find((token) => !isSpace(token))?.kind;
    return kind === "slash" && before === "placeholder" && (after === "placeholder" || after === "digit");
  });
  return index < 0 ? undefined : index;
}

const PATTERN = /^(l*)((?:[pc]*(?=l)|[pc]*c)?)(l*)(p+)(s*)\/(s*)([pd]{1,7})(l*)$/;

export function fractionLayout(tokens: readonly Token[]): FractionLayout | undefined {
  const codes = tokens.map((token) => ({ placeholder: "p", digit: "d", comma: "c", slash: "/", literal: "l" })[token.kind as "digit"] ?? "x");
  const slash = slashOf(tokens) ?? 0;
  // Spaces beside the slash are part of it.
  for (let at = slash - 1; isSpace(tokens[at]); at -= 1) codes[at] = "s";
  for (let at = slash + 1; isSpace(tokens[at]); at += 1) codes[at] = "s";
  const match = PATTERN.exec(codes.join(""));
  if (match === null) return undefined;
  let first = 0;
  const parts = match.slice(1).map((part, index) => {
    if (index === 5) first += 1;
    const texts = tokens.slice(first, first + part.length).map((token) => ("text" in token ? token.text : ","));
    first += part.length;
    return texts;
  });
  const [before = [], integer = [], separator = [], numerator = [], left = [], right = [], denominator = [], after = []] = parts;
  if (integer[0] === "," || denominator.length > MAX_DENOMINATOR_DIGITS) return undefined;
  const isFixed = match[7]?.includes("d") === true;
  if (isFixed && denominator.some((digit) => digit === "#" || digit === "?")) return undefined;
  return {
    before: before.join(""),
    integer: integer.filter((text) => text !== ","),
    isGrouped: integer.includes(","),
    separator: separator.join(""),
    numerator,
    slash: `${left.join("")}/${right.join("")}`,
    denominator,
    fixed: isFixed ? Number(denominator.join("")) : undefined,
    after: after.join(""),
  };
}

export function fractionText(layout: FractionLayout, magnitude: number): string {
  const { integer, numerator, denominator, fixed, slash } = layout;
  let whole = Math.trunc(magnitude);
  const rest = magnitude - whole;
  let [top, bottom] = fixed === undefined ? bestFraction(rest, 10 ** denominator.length - 1) : [Math.round(rest * fixed), fixed];
  let text = layout.before;
  if (integer.length === 0) top += whole * bottom;
  else {
    if (top >= bottom) [whole, top] = [whole + 1, 0];
    text += whole === 0 && top === 0 ? "0" : integerText(whole, integer, layout.isGrouped);
  }
  text += layout.separator;
  const hasZero = numerator.includes("0");
  if (top === 0 && integer.length > 0 && !hasZero) {
    return text + " ".repeat(numerator.length + slash.length + denominator.length) + layout.after;
  }
  text += top === 0 && !hasZero ? `${" ".repeat(numerator.length - 1)}0` : integerText(top, numerator, false);
  return text + slash + (fixed === undefined ? denominatorText(bottom, denominator) : denominator.join("")) + layout.after;
}

function integerText(value: number, placeholders: readonly string[], isGrouped: boolean): string {
  const writer = new IntegerWriter(Decimal.of(value), placeholders.length, isGrouped);
  return placeholders.map((placeholder) => writer.write(placeholder)).join("");
}

/** The digits of a denominator are at its left. */
function denominatorText(value: number, placeholders: readonly string[]): string {
  const count = (wanted: string) => placeholders.filter((placeholder) => placeholder === wanted).length;
  const digits = String(value).padStart(count("0"), "0");
  return digits + " ".repeat(Math.min(count("?"), Math.max(0, placeholders.length - digits.length)));
}

/** Returns the fraction that is nearest, by continued fractions. */
function bestFraction(fraction: number, max: number): [number, number] {
  let [previous, current]: [number, number][] = [[0, 1], [1, 0]];
  for (let rest = fraction; previous !== undefined && current !== undefined; ) {
    const term = Math.floor(rest);
    const next: [number, number] = [term * current[0] + previous[0], term * current[1] + previous[1]];
    if (next[1] > max) return current;
    if (rest - term < PRECISION || next[1] >= max) return next;
    rest = 1 / (rest - term);
    [previous, current] = [current, next];
  }
  return [0, 1];
}
