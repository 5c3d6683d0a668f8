/** Where the rows, or columns, of a window are in the space of an older level. */

import type { Run, Span } from "./index-parts";

/** Lines that are consecutive in the window and in the level. Lists ascend in both. */
export interface Lines {
  /** In the space of the level. */
  src: number;
  /** In the space of the window. */
  dst: number;
  len: number;
}

/** Returns the lines in the next older level, which `map` leads to this one. Inserted lines have no older one. */
export function olderLines(lines: readonly Lines[], map: readonly Run[]): Lines[] {
  const older: Lines[] = [];
  for (let [line, run] = [0, firstRunAfter(map, lines[0]?.src ?? 0)]; ; ) {
    const [one, other] = [lines[line], map[run]];
    if (one === undefined || other === undefined) return older;
    const start = Math.max(one.src, other.dst);
    const len = Math.min(one.src + one.len, other.dst + other.len) - start;
    if (len > 0) older.push({ src: other.src + start - other.dst, dst: one.dst + start - one.src, len });
    if (one.src + one.len <= other.dst + other.len) line += 1;
    else run += 1;
  }
}

/** Returns the index of the first run that ends after `place`, by binary search. */
function firstRunAfter(map: readonly Run[], place: number): number {
  let [low, high] = [0, map.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const run = map[middle];
    if (run !== undefined && run.dst + run.len <= place) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the lines of the window that are among `spans` of the level. */
export function linesAmong(lines: readonly Lines[], spans: readonly Span[]): Span[] {
  const runs = spans.map(({ first, count }) => ({ src: 0, dst: first, len: count }));
  return olderLines(lines, runs).map(({ dst, len }) => ({ first: dst, count: len }));
}

/** Returns the line of the window, or undefined if the line of the level is not in the window. */
export function lineOf(lines: readonly Lines[], src: number): number | undefined {
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const line = lines[middle];
    if (line !== undefined && line.src + line.len <= src) low = middle + 1;
    else high = middle;
  }
  const found = lines[low];
  return found !== undefined && found.src <= src ? found.dst + src - found.src : undefined;
}
