/** The state of the spreadsheet at one position of the log, as far as it is loaded. */

import type { StoredCell } from "./block";
import { BlockCache } from "./block-cache";
import { extentAfter } from "./overlay";
import { committedOf } from "./pending";
import { boundsOf } from "./ranges";
import { axisChangeOf } from "./space-map";
import { addedSheetOf, changesTabs, tabsAfter } from "./tabs";
import { displayText } from "./text";
import type { Range, SheetInfo } from "./types";
import { withoutAbsent } from "./decode";
import type { CellEdit, Entry, Operation, SheetsReply } from "./wire";

/** What an entry changed. */
export interface EntryEffect {
  moves: boolean;
  /** Whether the list of sheets must be loaded again. */
  sheets: boolean;
  /** The changed cells by sheet; null if they are not known. */
  cells: { sheet: number; range: Range }[] | null;
}

export class CanonicalState {
  sheets: readonly SheetInfo[] = [];
  nextSheet = 1;
  /** The defined names. */
  names: readonly string[] = [];
  /** Sheets whose used range contains the cells that formulas fill. Only replies with cells have it. */
  readonly fullExtents = new Set<number>();
  position = 0;
  incarnation = 0;
  /** Whether the last entry ends its segment; undefined if its kind is not known. */
  endsSegment: boolean | undefined;
  readonly cache = new BlockCache();
  /** The last position that changed anything. A reply of an earlier position is dropped. */
  changedAt = 0;
  /** How often the state was loaded from scratch. */
  resets = 0;

  /** Replaces everything with the newest state. */
  reset(reply: SheetsReply): void {
    this.resets += 1;
    this.cache.clear();
    this.sheets = [];
    this.fullExtents.clear();
    this.setSheets(reply);
    this.position = reply.position;
    this.changedAt = reply.position;
    this.incarnation = reply.incarnation;
    this.endsSegment = undefined;
  }

  /** Sets the list of sheets. Its used ranges do not contain the cells that formulas fill. */
  setSheets({ sheets, nextSheet, names }: SheetsReply): void {
    this.names = names;
    this.sheets = sheets.map((info) => {
      const { rows = 0, columns = 0 } = this.info(info.sheet)?.extent ?? {};
      const extent = { rows: Math.max(rows, info.extent.rows), columns: Math.max(columns, info.extent.columns) };
      return { ...info, extent };
    });
    this.nextSheet = nextSheet;
  }

  info(sheet: number): SheetInfo | undefined {
    return this.sheets.find((info) => info.sheet === sheet);
  }

  /** Applies the next entry. */
  apply(entry: Entry): EntryEffect {
    const effect: EntryEffect = { moves: false, sheets: entry.isExternal, cells: entry.isExternal ? null : [] };
    for (const operation of entry.mutations.flatMap(committedOf)) this.#applyOperation(operation, effect);
    this.position = entry.position;
    this.endsSegment = entry.kind === "endSegment";
    const isUnchanged = !effect.moves && !effect.sheets && effect.cells?.length === 0;
    if (isUnchanged) return effect;
    this.changedAt = entry.position;
    // Any edit may change results of formulas, which only the server calculates.
    const isAllUnknown = effect.cells === null;
    // A formula may also fill cells that were blank.
    if (isAllUnknown || this.cache.hasResults || entry.mutations.flatMap(committedOf).some(setsFormula)) {
      this.fullExtents.clear();
      this.cache.markOutdated();
    }
    return effect;
  }

  #applyOperation(operation: Operation, effect: EntryEffect): void {
    const { cache } = this;
    const change = axisChangeOf(operation);
    if (change !== undefined) {
      cache.move(change.sheet, change.axis, change.map);
      effect.moves = true;
    } else if (operation.kind === "setCells") {
      for (const edit of operation.cells) {
        cache.update(operation.sheet, edit.row, edit.column, (cell) => editedCell(cell, edit));
      }
      const range = boundsOf(operation.cells);
      effect.cells?.push({ sheet: operation.sheet, range });
    } else if (operation.kind === "clearRange") {
      cache.updateRanges(operation.sheet, operation.rows, operation.columns, clearedCell);
      effect.cells = null;
    } else if (changesTabs(operation)) {
      this.sheets = tabsAfter(this.sheets, operation);
      this.nextSheet = Math.max(this.nextSheet, (addedSheetOf(operation) ?? 0) + 1);
      effect.sheets = true;
    } else if (operation.kind === "other") {
      effect.sheets = true;
      effect.cells = null;
    }
    if ("sheet" in operation) this.#extend(operation.sheet, operation);
  }

  #extend(sheet: number, operation: Operation): void {
    this.sheets = this.sheets.map((info) =>
      info.sheet === sheet ? { ...info, extent: extentAfter(info.extent, operation) } : info,
    );
  }

  setExtent(sheet: number, extent: SheetInfo["extent"]): void {
    this.fullExtents.add(sheet);
    this.sheets = this.sheets.map((info) => (info.sheet === sheet ? { ...info, extent } : info));
  }
}

function setsFormula(operation: Operation): boolean {
  return operation.kind === "setCells" && operation.cells.some(({ formula }) => formula !== undefined);
}

/** Returns a cell after an edit, or undefined if it is blank. */
export function editedCell(cell: StoredCell | undefined, edit: CellEdit): StoredCell | undefined {
  const format = edit.format ?? cell?.format;
  if (edit.value === undefined && edit.formula === undefined) {
    if (cell === undefined) return format === undefined ? undefined : { value: null, text: "", format };
    const text = cell.formula !== undefined && cell.stale === true ? cell.text : displayText(cell.value, format, cell.formula !== undefined);
    return withoutAbsent<StoredCell>({ ...cell, format, text });
  }
  if (edit.formula !== undefined) {
    // Its value is not known yet, so that the formula itself is displayed.
    const { formula } = edit;
    return withoutAbsent<StoredCell>({ value: null, text: formula, formula, format, stale: true });
  }
  const value = edit.value ?? null;
  if (value === null && format === undefined) return undefined;
  return withoutAbsent<StoredCell>({ value, text: displayText(value, format), format });
}

function clearedCell(cell?: StoredCell): StoredCell | undefined {
  return cell?.format === undefined ? undefined : { value: null, text: "", format: cell.format };
}
