/** Serial numbers of dates and times: days since 1899-12-30 (`core/sheet/src/cell/date.rs`). */

const SECONDS_PER_DAY = 86_400;
const DAY_MS = 86_400_000;
const EPOCH_MS = Date.UTC(1899, 11, 30);
/** Serial of 1900-03-01: programs disagree about earlier dates. */
const FIRST_SERIAL = 61;
/** Serial of 9999-12-31. */
const LAST_SERIAL = 2_958_465;

export interface SplitSerial {
  /** Absent before 1900-03-01. */
  date?: { year: number; month: number; day: number };
  /** From 0 for Sunday. */
  weekday: number;
  hour: number;
  minute: number;
  second: number;
  millisecond: number;
  elapsedSeconds: number;
}

/** Rounds a serial to decimals of a second. Returns undefined if it is negative or too large. */
export function splitSerial(serial: number, secondDecimals: number): SplitSerial | undefined {
  if (serial < 0) return undefined;
  const unitsPerSecond = 10 ** Math.min(secondDecimals, 3);
  const totalUnits = Math.round(serial * SECONDS_PER_DAY * unitsPerSecond);
  if (!Number.isSafeInteger(totalUnits)) return undefined;
  const unitsPerDay = SECONDS_PER_DAY * unitsPerSecond;
  const days = Math.floor(totalUnits / unitsPerDay);
  if (days > LAST_SERIAL) return undefined;
  const unitsOfDay = totalUnits - days * unitsPerDay;
  const secondOfDay = Math.floor(unitsOfDay / unitsPerSecond);
  const day = new Date(EPOCH_MS + days * DAY_MS);
  const date = { year: day.getUTCFullYear(), month: day.getUTCMonth() + 1, day: day.getUTCDate() };
  return {
    ...(days < FIRST_SERIAL ? {} : { date }),
    weekday: (days + 6) % 7,
    hour: Math.floor(secondOfDay / 3_600),
    minute: Math.floor((secondOfDay % 3_600) / 60),
    second: secondOfDay % 60,
    millisecond: (unitsOfDay % unitsPerSecond) * (1_000 / unitsPerSecond),
    elapsedSeconds: days * SECONDS_PER_DAY + secondOfDay,
  };
}
