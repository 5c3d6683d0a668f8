/** The tokens of number formats. */

import type { Condition } from "./condition";

/** `0` displays a missing digit as a zero, `?` as a space, and `#` not at all. */
export type Placeholder = "0" | "?" | "#";

export type DateUnitName =
  | "year" | "month" | "day" | "hour" | "minute" | "second"
  | "elapsedHours" | "elapsedMinutes" | "elapsedSeconds" | "amPm" | "letterAmPm";

export interface DateUnit {
  name: DateUnitName;
  /** Number of letters in the code. */
  width: number;
  /** The letters of `A/P`, as in the code. */
  letters?: readonly [string, string];
}

export type Token =
  | { kind: "literal"; text: string }
  | { kind: "placeholder"; placeholder: Placeholder }
  /** A digit from 1 to 9, which is displayed as it is or belongs to a denominator. */
  | { kind: "digit"; text: string }
  | { kind: "point" | "comma" | "slash" | "percent" | "general" | "text" }
  | { kind: "exponent"; showsPlus: boolean }
  | { kind: "date"; unit: DateUnit }
  | { kind: "condition"; condition: Condition };

/** The code is not a number format. */
export class InvalidFormat extends Error {
  override readonly name = "InvalidFormat";
}

export function isTime({ name }: DateUnit): boolean {
  return name !== "year" && name !== "month" && name !== "day";
}

/** The character that a token displays if it has no other meaning. */
export function plainCharacter(token: Token): string | undefined {
  switch (token.kind) {
    case "literal":
    case "digit":
      return token.text;
    case "comma":
      return ",";
    case "slash":
      return "/";
    case "percent":
      return "%";
    default:
      return undefined;
  }
}
