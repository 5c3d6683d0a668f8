import type { CellInput, Range } from "../data/types";
import { moveReferences } from "./references";

/** Returns the inputs that fill a target from a source: series of numbers continue, other contents repeat. */
export function fillInputs(source: Range, target: Range, inputAt: (row: number, column: number) => string): CellInput[] {
  const inputs: CellInput[] = [];
  const isVertical = target.rowCount > source.rowCount;
  const lines = isVertical ? source.columnCount : source.rowCount;
  const length = isVertical ? source.rowCount : source.columnCount;
  const first = isVertical ? target.firstRow - source.firstRow : target.firstColumn - source.firstColumn;
  const count = isVertical ? target.rowCount : target.columnCount;
  for (let line = 0; line < lines; line++) {
    const texts = Array.from({ length }, (_, index) =>
      isVertical
        ? inputAt(source.firstRow + index, source.firstColumn + line)
        : inputAt(source.firstRow + line, source.firstColumn + index),
    );
    for (let index = first; index < first + count; index++) {
      if (index >= 0 && index < length) continue;
      const input = fillText(texts, index, isVertical);
      const row = source.firstRow + (isVertical ? index : line);
      const column = source.firstColumn + (isVertical ? line : index);
      inputs.push({ row, column, input });
    }
  }
  return inputs;
}

function fillText(texts: readonly string[], index: number, isVertical: boolean): string {
  const date = dateText(texts, index);
  if (date !== null) return date;
  const step = seriesStep(texts);
  if (step !== null) return String(roundedSum(Number(texts[0]), step * index));
  const slot = ((index % texts.length) + texts.length) % texts.length;
  const text = texts[slot]!;
  const distance = index - slot;
  if (!text.startsWith("=")) return text;
  return moveReferences(text, isVertical ? distance : 0, isVertical ? 0 : distance);
}

const DAY_MS = 86_400_000;
const DATE = /^(\d{4})([-/])(\d\d)\2(\d\d)$/;

/** Continues dates by days, or by months if all are the same day of a month. One date continues by a day. */
function dateText(texts: readonly string[], index: number): string | null {
  const separator = DATE.exec(texts[0]!)?.[2];
  const days = texts.map(dayOf);
  if (!days.every(Number.isFinite)) return null;
  const [first, second] = days as [number, number?];
  const firstDate = new Date(first * DAY_MS);
  const months = days.map((day) => monthOf(new Date(day * DAY_MS)) - monthOf(firstDate));
  const isMonthly = texts.length > 1 && months[1] !== 0 && days.every((day, at) => months[at] === months[1]! * at && new Date(day * DAY_MS).getUTCDate() === firstDate.getUTCDate());
  const step = second === undefined ? 1 : second - first;
  if (!isMonthly && !days.every((day, at) => day === first + step * at)) return null;
  const time = isMonthly ? dayOfMonth(firstDate, months[1]! * index) : (first + step * index) * DAY_MS;
  const year = new Date(time).getUTCFullYear();
  return year > 1899 && year < 10_000 ? isoDate(time).replace(/-/g, separator!) : null;
}

/** Returns the day of a date, or NaN for another text and for dates that do not exist. */
function dayOf(text: string): number {
  const iso = text.replace(/\//g, "-");
  const time = DATE.test(text) ? Date.parse(iso) : NaN;
  return Number.isFinite(time) && isoDate(time) === iso ? time / DAY_MS : NaN;
}

function isoDate(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function monthOf(date: Date): number {
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** Returns the same day of a later month, or the last day of a shorter month. */
function dayOfMonth(date: Date, months: number): number {
  const month = date.getUTCMonth() + months;
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), month + 1, 0)).getUTCDate();
  return Date.UTC(date.getUTCFullYear(), month, Math.min(date.getUTCDate(), lastDay));
}

/** Returns the difference of an arithmetic series of at least two numbers, or null. */
function seriesStep(texts: readonly string[]): number | null {
  if (texts.length < 2) return null;
  const numbers = texts.map((text) => (text.trim() === "" ? NaN : Number(text)));
  const step = numbers[1]! - numbers[0]!;
  const isSeries = numbers.every((number, index) => index === 0 || Math.abs(number - numbers[index - 1]! - step) < 1e-9);
  return isSeries && Number.isFinite(step) ? step : null;
}

/** Adds decimal numbers without the binary noise of 0.1 + 0.2. */
function roundedSum(a: number, b: number): number {
  return Number((a + b).toPrecision(14));
}
