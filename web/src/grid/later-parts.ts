/** The parts that the first cells do not need, in one file. */
export { Clipboard } from "./clipboard";
export { ConfirmDialog } from "./dialog";
export { fillInputs } from "./fill";
export { findLoaded } from "./find";
export { FindBar } from "./find-bar";
export { FormulaAssist } from "./formula-assist";
export { Menu } from "./menu";
export { menuItems } from "./menu-items";
export { LATER_STYLE } from "./later-style";
export { summaryText } from "./summary";
export { TabActions } from "./tab-actions";
