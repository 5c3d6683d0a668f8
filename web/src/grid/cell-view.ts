import type { Cell } from "../data/types";
import { formulaText } from "./cell-text";
import { roundedToFit } from "./rounded-number";

const TOO_NARROW = "###";

/** What a cell looks like: the same for the same cell, so that an unchanged cell is not written again. */
export interface CellLook {
  className: string;
  text: string;
  title: string;
}

/** The reasons are long texts, which are loaded later. */
let explain: (cell: Cell) => string[] = () => [];

/** From now on, titles explain errors. Cells that are drawn already must be drawn again. */
export function explainBy(explainCell: (cell: Cell) => string[]): void {
  explain = explainCell;
}

const LOADING: CellLook = { className: "cell loading", text: "…", title: "Loading" };
const BLANK: CellLook = { className: "cell", text: "", title: "" };

/** Returns the look of a cell. `maxLength` characters are more than its width can show: a browser would lay out all. */
export function cellLook(cell: Cell | undefined, isLoaded: boolean, fits: (text: string) => boolean, maxLength: number): CellLook {
  if (!cell) return isLoaded ? BLANK : LOADING;
  const classes = ["cell", ...valueClasses(cell)];
  if (cell.stale) classes.push("stale");
  if (cell.pending) classes.push("pending");
  if (cell.filledBy !== undefined) classes.push("filled");
  if (cell.note) classes.push("noted");
  const text = shownText(cell, fits).slice(0, maxLength);
  return { className: classes.join(" "), text, title: titleOf(cell, text) };
}

function valueClasses(cell: Cell): string[] {
  const { value } = cell;
  if (typeof value === "number") return ["number"];
  if (typeof value === "boolean") return ["boolean"];
  return value !== null && typeof value === "object" ? ["error"] : [];
}

/**
 * Rounds a number without a format so that it fits. Returns `###` for another number that does not
 * fit: a number that is cut off reads as another number.
 */
function shownText(cell: Cell, fits: (text: string) => boolean): string {
  const mark = cell.stale ? "*" : "";
  const text = cell.text + mark;
  if (typeof cell.value !== "number" || fits(text)) return text;
  if (!isGeneral(cell.format)) return TOO_NARROW;
  const rounded = roundedToFit(cell.value, (shorter) => fits(shorter + mark));
  return rounded === undefined ? TOO_NARROW : rounded + mark;
}

function isGeneral(format: string | undefined): boolean {
  return format === undefined || /^general$/i.test(format);
}

function titleOf(cell: Cell, text: string): string {
  const parts: string[] = [];
  if (typeof cell.value === "number" && !text.startsWith(cell.text)) parts.push(cell.text);
  if (cell.pending) parts.push("Waiting to be sent");
  parts.push(...explain(cell));
  if (cell.formula !== undefined && parts.length > 0) parts.push(formulaText(cell.formula));
  return parts.join("\n");
}
