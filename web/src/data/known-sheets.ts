/** Whether a pending edit will have an effect, given the sheets. The twin of `core/log/src/append/effect.rs`. */

import { MAX_COLUMNS, MAX_INSERTED_LINES, MAX_ROWS } from "./limits";
import type { Operation } from "./wire";

const MAX_SHEETS = 1_000;

export class KnownSheets {
  readonly #existing: Set<number>;
  readonly #added = new Set<number>();

  /** `wasUsed` returns whether a number cannot be used again. */
  constructor(
    existing: Iterable<number>,
    private readonly wasUsed: (sheet: number) => boolean,
  ) {
    this.#existing = new Set(existing);
  }

  /** Applies an operation. Returns false if it has no effect, or the server will reject it. */
  apply(operation: Operation): boolean {
    if (!("sheet" in operation)) return true;
    switch (operation.kind) {
      case "addSheet":
        return this.#add(operation.sheet, undefined);
      case "importSheet":
        return this.#add(operation.sheet, operation.replaces);
      case "deleteSheet":
        return this.#existing.size > 1 && this.#existing.delete(operation.sheet);
      case "insertRows":
        return this.#existing.has(operation.sheet) && operation.before < MAX_ROWS;
      case "insertColumns":
        return this.#existing.has(operation.sheet) && operation.before < MAX_COLUMNS;
      default:
        return this.#existing.has(operation.sheet);
    }
  }

  #add(sheet: number, replaces: number | undefined): boolean {
    const isReplaced = replaces !== undefined && this.#existing.has(replaces);
    const others = this.#existing.size - (isReplaced ? 1 : 0);
    if (others >= MAX_SHEETS || this.#added.has(sheet) || this.wasUsed(sheet)) return false;
    if (isReplaced) this.#existing.delete(replaces);
    this.#existing.add(sheet);
    this.#added.add(sheet);
    return true;
  }
}

/** Returns whether the server rejects an operation without looking at the spreadsheet. */
export function isInvalid(operation: Operation): boolean {
  const isInsertion = operation.kind === "insertRows" || operation.kind === "insertColumns";
  return isInsertion && (operation.count < 1 || operation.count > MAX_INSERTED_LINES);
}
