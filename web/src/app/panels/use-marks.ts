/** Highlights cells in the grid while a panel shows their differences. */

import { useEffect } from "preact/hooks";
import { rangeText } from "../../data/api";
import type { Mark } from "../../data/types";
import type { PanelProps } from "./props";

export function useMarks({ grid, source }: Pick<PanelProps, "grid" | "source">, marks: readonly Mark[]): void {
  useEffect(() => {
    grid.marks = marks;
    return () => {
      grid.marks = [];
    };
  }, [grid, source, marks]);
  useEffect(() => {
    const isHere = marks.some((mark) => mark.sheet === source.sheet);
    const first = marks.find((mark) => !isHere || mark.sheet === source.sheet);
    if (first === undefined || !source.sheets.some((info) => info.sheet === first.sheet)) return;
    if (!isHere) source.selectSheet(first.sheet);
    const focused = document.activeElement;
    grid.goTo(rangeText({ ...first, rowCount: 1, columnCount: 1 }));
    // The keys stay with the panel.
    if (focused instanceof HTMLElement && document.activeElement !== focused) focused.focus();
  }, [source, marks]);
}
