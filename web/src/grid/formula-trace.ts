import type { CellTrace, Mark, SheetRange, SheetSource } from "../data/types";
import { rangeName, type CellAddress } from "./address";
import { formulaText } from "./cell-text";
import { precedentsOf } from "./formula-highlights";
import { MAX_COLUMNS, MAX_ROWS } from "./limits";
import { sheetText } from "./references";

const DELAY_MS = 150;
const MAX_NAMED = 5;

/** Marks the cells that the active cell reads, and the formulas that read it. */
export class FormulaTrace {
  isOn = false;
  #key = "";
  #found: CellTrace = { precedents: [], dependents: [] };
  #timer = 0;
  /** The user asked for the cells just now, so they are spoken. */
  #isAsked = false;

  constructor(
    private readonly redraw: () => void,
    private readonly notify: (message: string) => void,
  ) {}

  toggle(): void {
    this.isOn = !this.isOn;
    this.#isAsked = this.isOn;
    this.#key = "";
    if (!this.isOn) this.notify("Precedents and dependents are hidden");
    this.redraw();
  }

  /** Returns the marks of a cell. Its dependents follow when the source has found them. */
  marks(source: SheetSource, cell: CellAddress): Mark[] {
    if (!this.isOn) return [];
    const formula = source.cellAt(cell.row, cell.column)?.formula;
    const named = formula === undefined ? [] : precedentsOf(formulaText(formula), source.sheets, source.sheet);
    const key = JSON.stringify([source.sheet, cell, source.status.position, formula]);
    if (key !== this.#key) this.#start(key, source, cell, named);
    const { precedents, dependents } = this.#found;
    return [...marksOf("precedent", withoutDoubles([...named, ...precedents])), ...marksOf("dependent", dependents)];
  }

  #start(key: string, source: SheetSource, cell: CellAddress, named: readonly SheetRange[]): void {
    this.#key = key;
    this.#found = { precedents: [], dependents: [] };
    clearTimeout(this.#timer);
    // Keys that pass many cells ask for none of them.
    this.#timer = window.setTimeout(() => void this.#ask(key, source, cell, named), this.#isAsked ? 0 : DELAY_MS);
  }

  async #ask(key: string, source: SheetSource, cell: CellAddress, named: readonly SheetRange[]): Promise<void> {
    let problem = source.trace ? "" : ". Dependents are not known here";
    let found: CellTrace = { precedents: [], dependents: [] };
    try {
      found = (await source.trace?.(cell.row, cell.column)) ?? found;
    } catch (error) {
      problem = `. Dependents are not known: ${error instanceof Error ? error.message : String(error)}`;
    }
    // Another cell is active by now.
    if (key !== this.#key) return;
    this.#found = found;
    if (this.#isAsked) this.notify(`${summary(source, withoutDoubles([...named, ...found.precedents]), found.dependents)}${problem}`);
    this.#isAsked = false;
    this.redraw();
  }
}

function marksOf(kind: "precedent" | "dependent", ranges: readonly SheetRange[]): Mark[] {
  return ranges.map((range) => ({ ...range, kind, color: kind === "precedent" ? 4 : 3 }));
}

function withoutDoubles(ranges: readonly SheetRange[]): SheetRange[] {
  return [...new Map(ranges.map((range) => [[range.sheet, range.firstRow, range.rowCount, range.firstColumn, range.columnCount].join(), range])).values()];
}

function summary(source: SheetSource, precedents: readonly SheetRange[], dependents: readonly SheetRange[]): string {
  const list = (ranges: readonly SheetRange[]): string => {
    const names = ranges.slice(0, MAX_NAMED).map((range) => nameOf(source, range));
    return ranges.length === 0 ? "none" : names.join(", ") + (ranges.length > MAX_NAMED ? ` and ${ranges.length - MAX_NAMED} more` : "");
  };
  return `Precedents: ${list(precedents)}. Dependents: ${list(dependents)}`;
}

function nameOf(source: SheetSource, range: SheetRange): string {
  const name = source.sheets.find(({ sheet }) => sheet === range.sheet)?.name;
  const prefix = range.sheet === source.sheet || name === undefined ? "" : `${sheetText(name)}!`;
  return prefix + rangeName(range, MAX_ROWS, MAX_COLUMNS);
}
