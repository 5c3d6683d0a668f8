/** Sections that display dates and times (`core/sheet/src/cell/number_format/date.rs`). */

import { splitSerial, type SplitSerial } from "./serial";
import { InvalidFormat, isTime, plainCharacter, type DateUnit, type Token } from "./token";

const MAX_SECOND_DECIMALS = 3;
const MONTHS = [
  "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
  "December",
];
const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

type Piece =
  | { kind: "literal"; text: string }
  | { kind: "unit"; unit: DateUnit }
  | { kind: "secondDecimals"; decimals: number };

export class DateLayout {
  readonly #pieces: Piece[];
  /** Serials are rounded to this number of decimals of a second. */
  readonly #roundedDecimals: number;
  readonly #hasDate: boolean;
  readonly #is12Hour: boolean;

  constructor(tokens: readonly Token[]) {
    this.#pieces = withMinutes(piecesOf(tokens));
    const units = unitsOf(this.#pieces);
    const decimals = this.#pieces.map((piece) => (piece.kind === "secondDecimals" ? piece.decimals : 0));
    const hasTime = units.some(isTime);
    if (!hasTime && Math.max(...decimals) > 0) throw new InvalidFormat("decimals need seconds");
    // A date without a time is only corrected for the imprecision of serials.
    this.#roundedDecimals = hasTime ? Math.max(...decimals) : MAX_SECOND_DECIMALS;
    this.#hasDate = units.some((unit) => !isTime(unit));
    this.#is12Hour = units.some(isHalfDay);
  }

  /** Returns undefined if the serial is not a date, or not a time. */
  render(serial: number): string | undefined {
    const split = splitSerial(serial, this.#roundedDecimals);
    if (split === undefined || (this.#hasDate && split.date === undefined)) return undefined;
    return this.#pieces.map((piece) => this.#text(piece, split)).join("");
  }

  #text(piece: Piece, split: SplitSerial): string {
    if (piece.kind === "literal") return piece.text;
    if (piece.kind === "secondDecimals") {
      return `.${String(split.millisecond).padStart(3, "0").slice(0, piece.decimals)}`;
    }
    return unitText(piece.unit, split, this.#is12Hour);
  }
}

function piecesOf(tokens: readonly Token[]): Piece[] {
  const pieces: Piece[] = [];
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token === undefined) break;
    if (token.kind === "date") pieces.push({ kind: "unit", unit: token.unit });
    else if (token.kind === "point") {
      const decimals = zerosAfter(tokens, index);
      if (decimals > MAX_SECOND_DECIMALS) throw new InvalidFormat("seconds can have at most 3 decimals");
      pieces.push(decimals === 0 ? { kind: "literal", text: "." } : { kind: "secondDecimals", decimals });
      index += decimals;
    } else {
      const text = plainCharacter(token);
      if (text === undefined) throw new InvalidFormat(`${token.kind} cannot be with parts of dates`);
      pieces.push({ kind: "literal", text });
    }
  }
  return pieces;
}

function zerosAfter(tokens: readonly Token[], point: number): number {
  const rest = tokens.slice(point + 1);
  const end = rest.findIndex((token) => !(token.kind === "placeholder" && token.placeholder === "0"));
  return end < 0 ? rest.length : end;
}

function unitsOf(pieces: readonly Piece[]): DateUnit[] {
  return pieces.flatMap((piece) => (piece.kind === "unit" ? [piece.unit] : []));
}

function isHalfDay({ name }: DateUnit): boolean {
  return name === "amPm" || name === "letterAmPm";
}

/** Replaces `m` and `mm` by minutes if hours are before them or seconds after them. */
function withMinutes(pieces: readonly Piece[]): Piece[] {
  const units = unitsOf(pieces).filter((unit) => !isHalfDay(unit));
  let index = -1;
  return pieces.map((piece) => {
    if (piece.kind !== "unit" || isHalfDay(piece.unit)) return piece;
    index += 1;
    const before = units[index - 1]?.name;
    const after = units[index + 1]?.name;
    const isBesideTime =
      before === "hour" || before === "elapsedHours" || after === "second" || after === "elapsedSeconds";
    const { name, width } = piece.unit;
    return name === "month" && width <= 2 && isBesideTime ? { kind: "unit", unit: { name: "minute", width } } : piece;
  });
}

function padded(number: number, width: number): string {
  return String(number).padStart(width, "0");
}

function unitText({ name, width, letters }: DateUnit, split: SplitSerial, is12Hour: boolean): string {
  switch (name) {
    case "year":
    case "month":
    case "day":
      return dateUnitText(name, width, split);
    case "hour":
      return padded(is12Hour ? ((split.hour + 11) % 12) + 1 : split.hour, Math.min(width, 2));
    case "minute":
      return padded(split.minute, Math.min(width, 2));
    case "second":
      return padded(split.second, Math.min(width, 2));
    case "elapsedHours":
      return padded(Math.floor(split.elapsedSeconds / 3_600), width);
    case "elapsedMinutes":
      return padded(Math.floor(split.elapsedSeconds / 60), width);
    case "elapsedSeconds":
      return padded(split.elapsedSeconds, width);
    case "amPm":
      return split.hour < 12 ? "AM" : "PM";
    case "letterAmPm":
      return (split.hour < 12 ? letters?.[0] : letters?.[1]) ?? "";
  }
}

function dateUnitText(name: "year" | "month" | "day", width: number, { date, weekday }: SplitSerial): string {
  if (date === undefined) return "";
  if (name === "year") return width <= 2 ? padded(date.year % 100, 2) : padded(date.year, 4);
  if (width <= 2) return padded(name === "month" ? date.month : date.day, width);
  const word = (name === "month" ? MONTHS[date.month - 1] : WEEKDAYS[weekday]) ?? "";
  if (width === 3) return word.slice(0, 3);
  return name === "month" && width === 5 ? word.slice(0, 1) : word;
}
