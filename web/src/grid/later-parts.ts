/** The parts that the first cells do not need, in one file. */
export { explain } from "./cell-reasons";
export { createParts } from "./create-parts";
export { fillInputs } from "./fill";
export { findLoaded } from "./find";
export { fittingWidth } from "./fitting-width";
export { LATER_STYLE } from "./later-style";
export { menuItems } from "./menu-items";
export { summaryText } from "./summary";
