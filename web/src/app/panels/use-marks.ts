/** Highlights cells in the grid while a panel shows their differences. */

import { useEffect } from "preact/hooks";
import { rangeText } from "../../data/api";
import type { Mark } from "../../data/types";
import { useStatus } from "./hooks";
import type { PanelProps } from "./props";

/** The marks belong to the state at the position `at`, and are shown with it. */
export function useMarks({ grid, source }: Pick<PanelProps, "grid" | "source">, at: string, marks: readonly Mark[]): void {
  const isShown = useStatus(source).position === at;
  useEffect(() => {
    if (!isShown) return;
    // Labelled marks show the authors of new edits, and belong to the page.
    const others = () => grid.marks.filter((mark) => mark.label !== undefined);
    grid.marks = others().concat(marks);
    return () => {
      grid.marks = others();
    };
  }, [grid, isShown, marks]);
  useEffect(() => {
    if (isShown) goToFirst({ grid, source }, marks);
  }, [isShown, marks]);
}

function goToFirst({ grid, source }: Pick<PanelProps, "grid" | "source">, marks: readonly Mark[]): void {
  const isHere = marks.some((mark) => mark.sheet === source.sheet);
  const first = marks.find((mark) => !isHere || mark.sheet === source.sheet);
  if (first === undefined || !source.sheets.some((info) => info.sheet === first.sheet)) return;
  if (!isHere) source.selectSheet(first.sheet);
  const focused = document.activeElement;
  grid.goTo(rangeText({ ...first, rowCount: 1, columnCount: 1 }));
  // The keys stay with the panel.
  if (focused instanceof HTMLElement && document.activeElement !== focused) focused.focus();
}
