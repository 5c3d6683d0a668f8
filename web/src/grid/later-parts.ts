/** The parts that the first cells do not need, in one file. */
export { explain } from "./cell-reasons";
export { createParts } from "./create-parts";
export { fillInputs } from "./fill";
export { LATER_STYLE } from "./later-style";
export { summaryText } from "./summary";
