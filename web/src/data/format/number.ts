/** Sections of number formats that display digits. The twin of `number_format/number.rs`. */

import { Decimal } from "./decimal";
import type { Token } from "./tokens";

/** A text, or a place that the number fills. */
type Piece = string | { part: "integer" | "decimal" | "exponentDigit"; placeholder: string } | { part: "point" } | { part: "exponent"; hasPlus: boolean };

export interface NumberLayout {
  pieces: Piece[];
  integer: string[];
  decimals: string[];
  exponent: string[];
  isGrouped: boolean;
  /** Power of ten by which the number is multiplied. */
  shift: number;
}

export function numberLayout(tokens: readonly Token[]): NumberLayout | undefined {
  const layout: NumberLayout = { pieces: [], integer: [], decimals: [], exponent: [], isGrouped: false, shift: 0 };
  for (let index = 0; index < tokens.length; index += 1) {
    const piece = pieceOf(layout, tokens, index);
    if (piece === undefined) return undefined;
    if (piece !== "") layout.pieces.push(piece);
  }
  // Excel displays at least one digit of an exponent.
  const last = layout.pieces.findLast((piece) => typeof piece === "object" && piece.part === "exponentDigit");
  if (typeof last === "object" && "placeholder" in last) last.placeholder = "0";
  return layout;
}

const has = ({ pieces }: NumberLayout, part: string) => pieces.some((piece) => typeof piece === "object" && piece.part === part);

/** Returns undefined if the token cannot be there. */
function pieceOf(layout: NumberLayout, tokens: readonly Token[], index: number): Piece | undefined {
  const token = tokens[index];
  const isAfterDigit = tokens[index - 1]?.kind === "placeholder";
  switch (token?.kind) {
    case "literal":
    case "digit":
      return token.text;
    case "placeholder":
      return placeholderPiece(layout, token.text);
    case "point":
      return has(layout, "point") || has(layout, "exponent") ? "." : { part: "point" };
    case "comma":
      return commaPiece(layout, tokens, index);
    case "percent":
      layout.shift += 2;
      return "%";
    case "exponent": {
      const isAfterNumber = isAfterDigit || (tokens[index - 1]?.kind === "point" && layout.integer.length > 0);
      const isValid = !has(layout, "exponent") && isAfterNumber && tokens[index + 1]?.kind === "placeholder";
      return isValid ? { part: "exponent", hasPlus: token.hasPlus } : undefined;
    }
    case "slash":
      return isAfterDigit ? undefined : "/";
    default:
      return undefined;
  }
}

function placeholderPiece(layout: NumberLayout, placeholder: string): Piece {
  const part = has(layout, "exponent") ? "exponentDigit" : has(layout, "point") ? "decimal" : "integer";
  const list = { exponentDigit: layout.exponent, decimal: layout.decimals, integer: layout.integer }[part];
  list.push(placeholder);
  return { part, placeholder };
}

/** A comma between digits separates thousands, and one after them divides by 1,000. */
function commaPiece(layout: NumberLayout, tokens: readonly Token[], index: number): Piece {
  const isNoComma = ({ kind }: Token) => kind !== "comma";
  const before = tokens.slice(0, index).findLast(isNoComma)?.kind;
  const isBeforeDigit = tokens.slice(index).find(isNoComma)?.kind === "placeholder";
  if (has(layout, "exponent") || (before !== "placeholder" && before !== "percent")) return ",";
  if (before === "percent" && isBeforeDigit) return ",";
  if (!isBeforeDigit) layout.shift -= 3;
  else if (!has(layout, "point")) layout.isGrouped = true;
  return "";
}

/** Returns the text of a number that is not negative, and whether only zeros are displayed. */
export function numberText(layout: NumberLayout, magnitude: number): { text: string; isZero: boolean } {
  const decimal = Decimal.of(magnitude);
  decimal.shift(layout.shift);
  let exponent = 0;
  if (layout.exponent.length === 0) decimal.round(layout.decimals.length);
  else exponent = extractExponent(layout, decimal);
  const integerWriter = new IntegerWriter(decimal, layout.integer.length, layout.isGrouped);
  const exponentWriter = new IntegerWriter(Decimal.of(Math.abs(exponent)), layout.exponent.length, false);
  const shownDecimals =
    layout.decimals.findLastIndex((placeholder, index) => placeholder === "0" || decimal.decimalDigit(index) !== "0") + 1;
  let decimalIndex = 0;
  const write = (piece: Piece): string => {
    if (typeof piece === "string") return piece;
    switch (piece.part) {
      case "integer":
        return integerWriter.write(piece.placeholder);
      case "point":
        return `${integerWriter.rest()}.`;
      case "decimal": {
        const index = decimalIndex;
        decimalIndex += 1;
        return index < shownDecimals ? decimal.decimalDigit(index) : piece.placeholder === "?" ? " " : "";
      }
      case "exponent":
        return `E${exponent < 0 ? "-" : piece.hasPlus ? "+" : ""}`;
      case "exponentDigit":
        return exponentWriter.write(piece.placeholder);
    }
  };
  return { text: layout.pieces.map(write).join(""), isZero: decimal.isZero };
}

/** Divides the number by a power of ten, which is returned. The exponent is a multiple of the integer placeholders. */
function extractExponent(layout: NumberLayout, decimal: Decimal): number {
  if (decimal.isZero) return 0;
  const digits = layout.integer.length;
  const step = Math.max(1, digits);
  let exponent = Math.floor((decimal.point - Math.min(1, digits)) / step) * step;
  const rounded = decimal.copy();
  rounded.shift(-exponent);
  rounded.round(layout.decimals.length);
  // For example, 999.96 was rounded to 1000.0.
  if (rounded.point > digits) exponent += step;
  decimal.shift(-exponent);
  decimal.round(layout.decimals.length);
  return exponent;
}

/** Writes the integer part of a number, one placeholder after the other. */
export class IntegerWriter {
  #places: number;
  #placeholders: number;
  #hasZeros = false;

  constructor(
    private readonly decimal: Decimal,
    placeholders: number,
    private readonly isGrouped: boolean,
  ) {
    this.#placeholders = placeholders;
    this.#places = Math.max(placeholders, decimal.integerLength);
  }

  /** The first placeholder also displays the digits for which there are no placeholders. */
  write(placeholder: string): string {
    this.#hasZeros ||= placeholder === "0";
    this.#placeholders -= 1;
    return this.#writeDownTo(this.#placeholders, placeholder);
  }

  /** Returns the digits if there are no placeholders, as in `.00`. */
  rest(): string {
    return this.#writeDownTo(0, "#");
  }

  #writeDownTo(end: number, placeholder: string): string {
    let text = "";
    while (this.#places > Math.max(0, end)) {
      this.#places -= 1;
      text += this.#place(this.#places, placeholder);
    }
    return text;
  }

  #place(place: number, placeholder: string): string {
    const endsGroup = this.isGrouped && place > 0 && place % 3 === 0;
    if (place < this.decimal.integerLength || this.#hasZeros) {
      return this.decimal.integerDigit(place) + (endsGroup ? "," : "");
    }
    return placeholder === "?" ? (endsGroup ? "  " : " ") : "";
  }
}
