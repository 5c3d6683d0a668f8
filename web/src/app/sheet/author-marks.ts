/** Marks cells that others have just changed with the name of the author. */

import type { OpenedSheet } from "../../data/index";
import type { Mark, Range } from "../../data/types";
import type { CellarGrid } from "../../grid/index";

const SHOWN_MS = 4_000;
const COLORS = 8;

/** Returns the number of an author's color, which is the same in all tabs. */
export function colorOf(author: string): number {
  let hash = 0;
  for (const character of author) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash % COLORS;
}

/** A mark of this module. Marks of panels have no end. */
export interface TimedMark extends Mark {
  untilMs: number;
}

export function marksOf(sheet: number, ranges: readonly Range[], author: string, untilMs: number): TimedMark[] {
  return ranges.map((range) => ({ ...range, sheet, kind: "changed", color: colorOf(author), label: author, untilMs }));
}

/** Returns the marks that are shown at a time. */
export function shownAt(marks: readonly Mark[], nowMs: number): Mark[] {
  return marks.filter((mark) => !("untilMs" in mark) || (mark as TimedMark).untilMs > nowMs);
}

/** Returns a function that ends the marking and removes the marks. */
export function markAuthors(source: OpenedSheet, grid: CellarGrid): () => void {
  const timers = new Set<ReturnType<typeof setTimeout>>();
  const unsubscribe = source.subscribe((change) => {
    if (change.kind !== "cells" || change.author === undefined) return;
    const untilMs = Date.now() + SHOWN_MS;
    // The grid moves its marks with inserted rows, so its own list is the newest.
    grid.marks = grid.marks.concat(marksOf(source.sheet, change.ranges, change.author, untilMs));
    const timer = setTimeout(() => {
      timers.delete(timer);
      grid.marks = shownAt(grid.marks, untilMs);
    }, SHOWN_MS);
    timers.add(timer);
  });
  return () => {
    unsubscribe();
    for (const timer of timers) clearTimeout(timer);
    grid.marks = shownAt(grid.marks, Number.POSITIVE_INFINITY);
  };
}
