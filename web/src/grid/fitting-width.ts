import { textWidth } from "./measure";
import type { View } from "./view";

/** Returns the width of a column that shows its visible texts, or 0 if it has none. */
export function fittingWidth(column: number, { source, visible }: View, host: HTMLElement): number {
  let width = 0;
  for (let row = visible.firstRow; row < visible.firstRow + visible.rowCount; row++) {
    const text = source.cellAt(row, column)?.text;
    if (text) width = Math.max(width, textWidth(text, host) + 14);
  }
  return width;
}
