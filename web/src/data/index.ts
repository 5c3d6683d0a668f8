/** The data layer of Cellar's web client. */

export type * from "./types";
export { openSheet, type OpenedSheet, type OpenOptions, type UnsentEdits } from "./open-sheet";
export { forgetCells } from "./forget-cells";
export type { HintSource } from "./live";
export type { FirstCell } from "./loader";
export { parseInput } from "./input";
export type { At } from "./api";
export { rangeText } from "./api";
export { columnName } from "../base/sheet";
