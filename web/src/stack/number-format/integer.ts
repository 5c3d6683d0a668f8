/** Writes the integer part of a number, one placeholder after the other. */

import type { Decimal } from "./decimal";
import type { Placeholder } from "./token";

export class IntegerWriter {
  readonly #decimal: Decimal;
  readonly #isGrouped: boolean;
  #remainingPlaces: number;
  #remainingPlaceholders: number;
  /** Whether a `0` was written. All places after it are displayed. */
  #hasZeros = false;

  constructor(decimal: Decimal, placeholders: number, isGrouped: boolean) {
    this.#decimal = decimal;
    this.#isGrouped = isGrouped;
    this.#remainingPlaces = Math.max(decimal.integerLength, placeholders);
    this.#remainingPlaceholders = placeholders;
  }

  /** The first placeholder also displays the digits for which there are no placeholders. */
  write(placeholder: Placeholder): string {
    if (placeholder === "0") this.#hasZeros = true;
    this.#remainingPlaceholders = Math.max(this.#remainingPlaceholders - 1, 0);
    let text = "";
    while (this.#remainingPlaces > this.#remainingPlaceholders) {
      this.#remainingPlaces -= 1;
      text += this.#place(this.#remainingPlaces, placeholder);
    }
    return text;
  }

  /** Writes the digits if there are no placeholders, as in `.00`. */
  rest(): string {
    let text = "";
    while (this.#remainingPlaces > 0) {
      this.#remainingPlaces -= 1;
      text += this.#place(this.#remainingPlaces, "#");
    }
    return text;
  }

  #place(place: number, placeholder: Placeholder): string {
    const endsGroup = this.#isGrouped && place > 0 && place % 3 === 0;
    if (place < this.#decimal.integerLength || this.#hasZeros) {
      return this.#decimal.integerDigit(place) + (endsGroup ? "," : "");
    }
    return placeholder === "?" ? ` ${endsGroup ? " " : ""}` : "";
  }
}

export function integerText(decimal: Decimal, placeholders: readonly Placeholder[], isGrouped: boolean): string {
  const writer = new IntegerWriter(decimal, placeholders.length, isGrouped);
  return placeholders.map((placeholder) => writer.write(placeholder)).join("");
}
