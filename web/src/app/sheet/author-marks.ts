/** Marks cells that others have just changed with the name of the author. */

import { colorOfPerson } from "../../base/person-color";
import type { OpenedSheet } from "../../data/index";
import type { Mark, Range } from "../../data/types";
import type { CellarGrid } from "../../grid/index";

const SHOWN_MS = 4_000;

/** A mark of this module. Marks of panels have no end. */
export interface TimedMark extends Mark {
  untilMs: number;
}

export function marksOf(sheet: number, ranges: readonly Range[], author: string, untilMs: number): TimedMark[] {
  return ranges.map((range) => ({ ...range, sheet, kind: "changed", color: colorOfPerson(author), label: author, untilMs }));
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
