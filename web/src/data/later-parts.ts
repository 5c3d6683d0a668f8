/** The parts of the data layer that the first cells do not need, in one file. */
export { CellKeeper } from "./cell-keeper";
export { continueClosedTab } from "./closed-tab";
export { followOthers } from "./follow-others";
export { openPastSheet } from "./past-sheet";
export { PokeStream } from "./pokes";
export { recoverAbandoned } from "./recovery";
export { traceCell } from "./trace";
export { unsentEditsOf } from "./unsent-edits";
export { redoLast, undoLast } from "./undo";
