export { MAX_COLUMNS, MAX_ROWS } from "../base/sheet";

/** Smallest grid that is shown, so that an empty sheet has cells to type into. */
export const MIN_SHOWN_ROWS = 1_000;
export const MIN_SHOWN_COLUMNS = 26;
/** Blank rows and columns that are shown after the last cell and after the active cell. */
export const BLANK_ROWS = 200;
export const BLANK_COLUMNS = 10;

export const ROW_HEIGHT = 24;
export const COLUMN_WIDTH = 100;
export const MIN_COLUMN_WIDTH = 24;
export const MAX_COLUMN_WIDTH = 2_000;

/** Firefox draws nothing after about 17 million pixels, Blink moves absolutely positioned children at 16.7 million. */
export const MAX_TRACK_LENGTH = 8_000_000;
/** Pixels at both ends of the scrollbar that are not scaled, so that wheel and touch never stop before the end. */
export const EXACT_TRACK_END = 50_000;

/** A host without a height would otherwise let the grid draw a sheet's every row. */
export const MAX_DRAWN_ROWS = 400;
export const MAX_DRAWN_COLUMNS = 200;

/** Marks that a frame draws. More would cover the cells. */
export const MAX_DRAWN_MARKS = 500;
export { COLORS as MARK_COLORS } from "../base/colors";

/** Cells that a search without a server looks at, and finds. */
export const MAX_SEARCHED_CELLS = 400_000;
export const MAX_FOUND_LOCALLY = 10_000;

export const MAX_COPIED_CELLS = 100_000;
export const MAX_PASTED_CELLS = 100_000;
/** Cells that are loaded at once to be copied: less than what a source keeps. */
export const MAX_LOADED_AT_ONCE = 20_000;
/** Cells that the status line adds up. More would take longer than a frame. */
export const MAX_SUMMED_CELLS = 100_000;
/** Cells that Ctrl+arrow looks at before it gives up and goes to the end of the sheet. */
export const MAX_EDGE_STEPS = 20_000;
