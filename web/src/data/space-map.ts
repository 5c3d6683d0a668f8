/**
 * Maps the coordinates of a spreadsheet from an older state to a later one, and operations with
 * them. The twin of `core/log/src/transform`, for the operations that this client sends.
 */

import { AxisMap } from "./axis-map";
import { withoutAbsent } from "./decode";
import { MAX_COLUMNS, MAX_ROWS } from "./limits";
import { addedSheetOf } from "./tabs";
import type { CellEdit, Operation } from "./wire";

type Axis = "rows" | "columns";

export interface AxisChange {
  sheet: number;
  axis: Axis;
  map: AxisMap;
}

/** The maps of one sheet. */
interface SheetMap {
  /** The number in the later state, or null if the author's sheet was not added. */
  readonly target: number | null;
  readonly rows: AxisMap;
  readonly columns: AxisMap;
}

const UNCHANGED = { rows: AxisMap.identity(MAX_ROWS), columns: AxisMap.identity(MAX_COLUMNS) };

function unchanged(sheet: number): SheetMap {
  return { target: sheet, ...UNCHANGED };
}

/** Returns how an operation moves rows or columns, or undefined if it moves none. */
export function axisChangeOf(operation: Operation): AxisChange | undefined {
  switch (operation.kind) {
    case "insertRows":
      return change(operation.sheet, "rows", AxisMap.insert(MAX_ROWS, operation.before, operation.count));
    case "insertColumns":
      return change(operation.sheet, "columns", AxisMap.insert(MAX_COLUMNS, operation.before, operation.count));
    case "deleteRows":
      return change(operation.sheet, "rows", AxisMap.delete(MAX_ROWS, operation.spans));
    case "deleteColumns":
      return change(operation.sheet, "columns", AxisMap.delete(MAX_COLUMNS, operation.spans));
    default:
      return undefined;
  }
}

function change(sheet: number, axis: Axis, map: AxisMap): AxisChange {
  return { sheet, axis, map };
}

/** Whether later operations must be moved past this one. */
export function movesCells(operation: Operation): boolean {
  return axisChangeOf(operation) !== undefined || addedSheetOf(operation) !== undefined;
}

/** Immutable. */
export class SpaceMap {
  static readonly IDENTITY = new SpaceMap(new Map(), new Set(), new Set());

  private constructor(
    /** By number in the older state. Other sheets are unchanged. */
    private readonly maps: ReadonlyMap<number, SheetMap>,
    /** The sheets that anyone added since the older state. */
    private readonly added: ReadonlySet<number>,
    /** The sheets that the author added, by the author's numbers. */
    private readonly own: ReadonlySet<number>,
  ) {}

  sheet(sheet: number): SheetMap {
    return this.maps.get(sheet) ?? unchanged(sheet);
  }

  get isIdentity(): boolean {
    const isUnchanged = ([sheet, { target, rows, columns }]: [number, SheetMap]) =>
      target === sheet && rows.isIdentity && columns.isIdentity;
    return this.added.size === 0 && this.own.size === 0 && [...this.maps].every(isUnchanged);
  }

  /** Returns the number of a new sheet: the author's or, if it is taken, the next free one. */
  freeSheetNumber(authored: number): number {
    let free = authored;
    while (this.added.has(free)) free += 1;
    return free;
  }

  /** Adds committed operations that the author has not seen. */
  withForeign(operations: readonly Operation[]): SpaceMap {
    let result: SpaceMap = this;
    for (const operation of operations) {
      const found = axisChangeOf(operation);
      const added = addedSheetOf(operation);
      if (added !== undefined) result = new SpaceMap(result.maps, new Set(result.added).add(added), result.own);
      if (found === undefined) continue;
      for (const sheet of result.#olderNumbersOf(found.sheet)) {
        result = result.#update(sheet, found.axis, (map) => map.then(found.map));
      }
    }
    return result;
  }

  #olderNumbersOf(target: number): number[] {
    const mapped = [...this.maps].filter(([, map]) => map.target === target).map(([sheet]) => sheet);
    return this.maps.has(target) ? mapped : [...mapped, target];
  }

  /**
   * Adds one of the author's mutations, which was committed as `committed`. The result leads from
   * the coordinates after `authored` to those after `committed`.
   */
  withOwn(authored: Operation, committed: readonly Operation[]): SpaceMap {
    const undone = axisChangeOf(authored);
    const start =
      undone === undefined
        ? this
        : this.#update(undone.sheet, undone.axis, (map) => undone.map.reversed().then(map));
    const added = addedSheetOf(authored);
    const result = start.withForeign(committed).#connectInserted(authored, committed);
    // A number that the author gave to two sheets means the first one.
    if (added === undefined || result.own.has(added)) return result;
    const target = addedSheetOf(committed[0]) ?? null;
    const maps = new Map(result.maps).set(added, { ...unchanged(added), target });
    return new SpaceMap(maps, result.added, new Set(result.own).add(added));
  }

  /** Maps the rows that the author inserted to the rows that the server inserted. */
  #connectInserted(authored: Operation, committed: readonly Operation[]): SpaceMap {
    const [only] = committed;
    if (only === undefined || committed.length !== 1 || only.kind !== authored.kind) return this;
    if (only.kind !== "insertRows" && only.kind !== "insertColumns") return this;
    if (authored.kind !== "insertRows" && authored.kind !== "insertColumns") return this;
    const axis = only.kind === "insertRows" ? "rows" : "columns";
    const { before: src, count } = authored;
    const { before: dst } = only;
    return this.#update(authored.sheet, axis, (map) => {
      const len = Math.min(count, only.count, map.limit - Math.max(src, dst));
      return map.withRun({ src, dst, len });
    });
  }

  #update(sheet: number, axis: Axis, update: (map: AxisMap) => AxisMap): SpaceMap {
    const current = this.sheet(sheet);
    const updated = { ...current, [axis]: update(current[axis]) };
    return new SpaceMap(new Map(this.maps).set(sheet, updated), this.added, this.own);
  }
}

/** Returns the operation in the later coordinates of `map`; empty if it has no effect any more. */
export function transform(operation: Operation, map: SpaceMap): Operation[] {
  if (map.isIdentity || !("sheet" in operation)) return [operation];
  if (operation.kind === "addSheet") {
    const { before, ...added } = operation;
    const sheet = map.freeSheetNumber(added.sheet);
    return [{ ...added, sheet, ...withoutAbsent({ before: movedSheet(before, map) }) }];
  }
  if (operation.kind === "importSheet") {
    const { replaces, ...added } = operation;
    const sheet = map.freeSheetNumber(added.sheet);
    return [{ ...added, sheet, ...withoutAbsent({ replaces: movedSheet(replaces, map) }) }];
  }
  const { target, rows, columns } = map.sheet(operation.sheet);
  if (target === null) return [];
  const moved = { ...operation, sheet: target };
  switch (moved.kind) {
    case "setCells": {
      const cells = transformCells(moved.cells, rows, columns);
      return cells.length === 0 ? [] : [{ ...moved, cells }];
    }
    case "clearRange": {
      const kept = { rows: rows.keptSpans(moved.rows), columns: columns.keptSpans(moved.columns) };
      return kept.rows.length === 0 || kept.columns.length === 0 ? [] : [{ ...moved, ...kept }];
    }
    case "insertRows":
      return [{ ...moved, before: rows.insertionPoint(moved.before) }];
    case "insertColumns":
      return [{ ...moved, before: columns.insertionPoint(moved.before) }];
    case "deleteRows":
    case "deleteColumns": {
      const spans = (moved.kind === "deleteRows" ? rows : columns).keptSpans(moved.spans);
      return spans.length === 0 ? [] : [{ ...moved, spans }];
    }
    default:
      return [moved];
  }
}

function movedSheet(sheet: number | undefined, map: SpaceMap): number | undefined {
  return sheet === undefined ? undefined : (map.sheet(sheet).target ?? undefined);
}

function transformCells(cells: readonly CellEdit[], rows: AxisMap, columns: AxisMap): CellEdit[] {
  const kept: CellEdit[] = [];
  for (const edit of cells) {
    const [row, column] = [rows.get(edit.row), columns.get(edit.column)];
    // References of formulas are moved by the server. Until then they are shown as typed.
    if (row !== undefined && column !== undefined) kept.push({ ...edit, row, column });
  }
  return kept.sort((left, right) => left.row - right.row || left.column - right.column);
}
