import { Axis } from "./axis";
import { COLUMN_WIDTH, MAX_COLUMN_WIDTH, MAX_COLUMNS, MIN_COLUMN_WIDTH, MIN_SHOWN_COLUMNS } from "./limits";

/** Keeps the widths of columns other than the default, such as in `localStorage`. */
export interface ColumnWidthStore {
  load(sheet: number): Iterable<readonly [column: number, width: number]>;
  save(sheet: number, widths: readonly (readonly [column: number, width: number])[]): void;
}

/** Returns the columns of a sheet with the widths that were kept, of which some may be damaged. */
export function keptColumns(store: ColumnWidthStore | null, sheet: number): Axis {
  const widths = new Map<number, number>();
  for (const [column, width] of store?.load(sheet) ?? []) {
    if (column >= 0 && column < MAX_COLUMNS && width >= MIN_COLUMN_WIDTH && width <= MAX_COLUMN_WIDTH) widths.set(Math.floor(column), width);
  }
  return new Axis(MIN_SHOWN_COLUMNS, COLUMN_WIDTH, widths);
}

export function allowedWidth(width: number): number {
  return Math.round(Math.max(MIN_COLUMN_WIDTH, Math.min(width, MAX_COLUMN_WIDTH)));
}
