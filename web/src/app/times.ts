/** Times as texts, in the language and time zone of the browser. */

import { ageText } from "../grid/status-line";

const MS = 1_000;
const DAY_S = 86_400;

/** Creating a format is slow, so each is created once, when it is first used. */
function format(options: Intl.DateTimeFormatOptions): (seconds: number) => string {
  let created: Intl.DateTimeFormat | null = null;
  return (seconds) => (created ??= new Intl.DateTimeFormat(undefined, options)).format(seconds * MS);
}

export const dateTimeText = format({ dateStyle: "medium", timeStyle: "short" });
export const dayText = format({ dateStyle: "full" });
export const timeText = format({ timeStyle: "short" });
const shortDateText = format({ day: "numeric", month: "short" });
const shortDateTextOfYear = format({ day: "numeric", month: "short", year: "numeric" });

/** Returns a time relative to now if it is recent, else a date. */
export function recentTimeText(seconds: number, nowMs: number): string {
  const ageS = Math.max(0, nowMs / MS - seconds);
  if (ageS < 60) return "just now";
  if (ageS < DAY_S) return `${ageText(ageS * MS)} ago`;
  const isThisYear = new Date(seconds * MS).getFullYear() === new Date(nowMs).getFullYear();
  return isThisYear ? shortDateText(seconds) : shortDateTextOfYear(seconds);
}

/** Names the day of a time in the time zone of the browser, such as `2026-11-27`. */
export function dayKey(seconds: number): string {
  const date = new Date(seconds * MS);
  return `${date.getFullYear()}-${date.getMonth() + 1}-${date.getDate()}`;
}
