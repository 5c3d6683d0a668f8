/** Times as texts, in the language and time zone of the browser. */

const MS = 1_000;

export function dateTimeText(seconds: number): string {
  return new Date(seconds * MS).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

export function dayText(seconds: number): string {
  return new Date(seconds * MS).toLocaleDateString(undefined, { dateStyle: "full" });
}

export function timeText(seconds: number): string {
  return new Date(seconds * MS).toLocaleTimeString(undefined, { timeStyle: "short" });
}

/** Names the day of a time in the time zone of the browser, such as `2026-11-27`. */
export function dayKey(seconds: number): string {
  const date = new Date(seconds * MS);
  return `${date.getFullYear()}-${date.getMonth() + 1}-${date.getDate()}`;
}
