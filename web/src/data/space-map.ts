/**
 * Maps the coordinates of a spreadsheet from an older state to a later one, and operations with
 * them. The twin of `core/log/src/transform`, for the operations that this client sends.
 */

import { AxisMap } from "./axis-map";
import { MAX_COLUMNS, MAX_ROWS } from "./limits";
import type { CellEdit, Operation } from "./wire";

type Axis = "rows" | "columns";

interface AxisChange {
  sheet: number;
  axis: Axis;
  map: AxisMap;
}

/** The maps of one sheet. */
interface SheetMap {
  readonly rows: AxisMap;
  readonly columns: AxisMap;
}

const IDENTITY: SheetMap = { rows: AxisMap.identity(MAX_ROWS), columns: AxisMap.identity(MAX_COLUMNS) };

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

/** Immutable. Sheets keep their numbers, because this client adds no sheets. */
export class SpaceMap {
  static readonly IDENTITY = new SpaceMap(new Map());

  private constructor(private readonly maps: ReadonlyMap<number, SheetMap>) {}

  sheet(sheet: number): SheetMap {
    return this.maps.get(sheet) ?? IDENTITY;
  }

  get isIdentity(): boolean {
    return [...this.maps.values()].every(({ rows, columns }) => rows.isIdentity && columns.isIdentity);
  }

  /** Adds committed operations that the author has not seen. */
  withForeign(operations: readonly Operation[]): SpaceMap {
    let result: SpaceMap = this;
    for (const operation of operations) {
      const found = axisChangeOf(operation);
      if (found !== undefined) result = result.#update(found.sheet, found.axis, (map) => map.then(found.map));
    }
    return result;
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
    return start.withForeign(committed).#connectInserted(authored, committed);
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
    return new SpaceMap(new Map(this.maps).set(sheet, { ...current, [axis]: update(current[axis]) }));
  }
}

/** Returns the operation in the later coordinates of `map`; empty if it has no effect any more. */
export function transform(operation: Operation, map: SpaceMap): Operation[] {
  if (map.isIdentity) return [operation];
  switch (operation.kind) {
    case "setCells": {
      const cells = transformCells(operation.cells, map.sheet(operation.sheet));
      return cells.length === 0 ? [] : [{ ...operation, cells }];
    }
    case "clearRange": {
      const { rows, columns } = map.sheet(operation.sheet);
      const kept = { rows: rows.keptSpans(operation.rows), columns: columns.keptSpans(operation.columns) };
      return kept.rows.length === 0 || kept.columns.length === 0 ? [] : [{ ...operation, ...kept }];
    }
    case "insertRows":
      return [{ ...operation, before: map.sheet(operation.sheet).rows.insertionPoint(operation.before) }];
    case "insertColumns":
      return [{ ...operation, before: map.sheet(operation.sheet).columns.insertionPoint(operation.before) }];
    case "deleteRows":
    case "deleteColumns": {
      const { rows, columns } = map.sheet(operation.sheet);
      const spans = (operation.kind === "deleteRows" ? rows : columns).keptSpans(operation.spans);
      return spans.length === 0 ? [] : [{ ...operation, spans }];
    }
    default:
      return [operation];
  }
}

function transformCells(cells: readonly CellEdit[], { rows, columns }: SheetMap): CellEdit[] {
  const kept: CellEdit[] = [];
  for (const edit of cells) {
    const [row, column] = [rows.get(edit.row), columns.get(edit.column)];
    // References of formulas are moved by the server. Until then they are shown as typed.
    if (row !== undefined && column !== undefined) kept.push({ ...edit, row, column });
  }
  return kept.sort((left, right) => left.row - right.row || left.column - right.column);
}
