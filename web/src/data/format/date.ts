/** Sections of number formats that display dates and times. The twin of `number_format/date.rs`. */

import type { Token } from "./tokens";

const MONTHS = [
  "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
];
const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MAX_SECOND_DECIMALS = 3;
const SECONDS_PER_DAY = 86_400;
const MS_PER_SECOND = 1_000;
/** 1900-03-01: spreadsheets disagree about earlier dates. */
const FIRST_SERIAL = 61;
const LAST_SERIAL = 2_958_465;
const EPOCH_MS = Date.UTC(1899, 11, 30);

interface Unit {
  unit: string;
  width: number;
  elapsed?: boolean;
}

type Piece = string | Unit | { decimals: number };

export interface DateLayout {
  pieces: Piece[];
  hasDate: boolean;
  is12Hour: boolean;
  roundedDecimals: number;
}

const isUnit = (piece: Piece): piece is Unit => typeof piece === "object" && "unit" in piece;
const isAmPm = ({ unit }: Unit) => unit.includes("/");
const isTime = (unit: Unit) => unit.elapsed === true || isAmPm(unit) || "hsn".includes(unit.unit);

export function dateLayout(tokens: readonly Token[]): DateLayout | undefined {
  const pieces: Piece[] = [];
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token?.kind === "point") {
      let decimals = 0;
      for (let next = tokens[index + 1]; next?.kind === "placeholder" && next.text === "0"; next = tokens[index + 1 + decimals]) decimals += 1;
      if (decimals > MAX_SECOND_DECIMALS) return undefined;
      pieces.push(decimals === 0 ? "." : { decimals });
      index += decimals;
      continue;
    }
    const piece = pieceOf(token);
    if (piece === undefined) return undefined;
    pieces.push(piece);
  }
  return layoutOf(findMinutes(pieces));
}

function pieceOf(token: Token | undefined): Piece | undefined {
  switch (token?.kind) {
    case "date":
      return { ...token };
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

/** `m` after hours or before seconds stands for minutes, which get the unit `n`. */
function findMinutes(pieces: Piece[]): Piece[] {
  const units = pieces.filter(isUnit).filter((unit) => !isAmPm(unit));
  const minutes = units.filter((unit, index) => {
    const isMonth = unit.unit === "m" && unit.elapsed !== true && unit.width <= 2;
    return isMonth && (units[index - 1]?.unit === "h" || units[index + 1]?.unit === "s");
  });
  for (const unit of minutes) unit.unit = "n";
  return pieces;
}

function layoutOf(pieces: Piece[]): DateLayout | undefined {
  const units = pieces.filter(isUnit);
  const hasTime = units.some(isTime);
  const decimals = pieces.map((piece) => (typeof piece === "object" && "decimals" in piece ? piece.decimals : 0));
  if (!hasTime && Math.max(...decimals) > 0) return undefined;
  const roundedDecimals = hasTime ? Math.max(...decimals) : MAX_SECOND_DECIMALS;
  return { pieces, roundedDecimals, hasDate: !units.every(isTime), is12Hour: units.some(isAmPm) };
}

/** Returns undefined if the serial number is not a date that can be displayed. */
export function dateText(layout: DateLayout, serial: number): string | undefined {
  const perSecond = 10 ** layout.roundedDecimals;
  const total = Math.round(serial * SECONDS_PER_DAY * perSecond);
  const days = Math.floor(total / (SECONDS_PER_DAY * perSecond));
  if (!Number.isSafeInteger(total) || total < 0 || days > LAST_SERIAL) return undefined;
  if (layout.hasDate && days < FIRST_SERIAL) return undefined;
  const seconds = Math.floor(total / perSecond);
  const ms = (total % perSecond) * (MS_PER_SECOND / perSecond);
  const texts = layout.pieces.map((piece) => {
    if (typeof piece === "string") return piece;
    if ("decimals" in piece) return `.${String(ms).padStart(3, "0").slice(0, piece.decimals)}`;
    return unitText(piece, days, seconds, layout.is12Hour);
  });
  return texts.join("");
}

function unitText({ unit, width, elapsed }: Unit, days: number, seconds: number, is12Hour: boolean): string {
  const padded = (number: number, digits: number) => String(number).padStart(digits, "0");
  if (elapsed === true) {
    const perUnit = { h: 3_600, m: 60, s: 1 }[unit] ?? 1;
    return padded(Math.floor(seconds / perUnit), width);
  }
  const ofDay = seconds - days * SECONDS_PER_DAY;
  const hour = Math.floor(ofDay / 3_600);
  const short = Math.min(width, 2);
  switch (unit) {
    case "h":
      return padded(is12Hour ? ((hour + 11) % 12) + 1 : hour, short);
    case "n":
      return padded(Math.floor(ofDay / 60) % 60, short);
    case "s":
      return padded(ofDay % 60, short);
    case "y":
    case "m":
    case "d":
      return dateUnitText(unit, width, days, padded);
    default: {
      const [am = "", pm = ""] = unit.split("/");
      const half = hour < 12 ? am : pm;
      return unit === "AM/PM" ? (hour < 12 ? "AM" : "PM") : half;
    }
  }
}

function dateUnitText(unit: string, width: number, days: number, padded: (number: number, digits: number) => string): string {
  const date = new Date(EPOCH_MS + days * SECONDS_PER_DAY * MS_PER_SECOND);
  if (unit === "y") return width <= 2 ? padded(date.getUTCFullYear() % 100, 2) : padded(date.getUTCFullYear(), 4);
  const [number, name] =
    unit === "m"
      ? [date.getUTCMonth() + 1, MONTHS[date.getUTCMonth()] ?? ""]
      : [date.getUTCDate(), WEEKDAYS[date.getUTCDay()] ?? ""];
  if (width <= 2) return padded(number, width);
  if (width === 3) return name.slice(0, 3);
  return unit === "m" && width === 5 ? name.slice(0, 1) : name;
}
