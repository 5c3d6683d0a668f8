/** The parts of the data layer that the first cells do not need, in one file. */
export { openPastSheet } from "./past-sheet";
export { PokeStream } from "./pokes";
export { recoverAbandoned } from "./recovery";
export { redoLast, undoLast } from "./undo";
