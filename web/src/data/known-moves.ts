/** Moves selections from an earlier position to a later one, with the rows and columns that entries moved in between. */

import { MAX_KNOWN_MOVES } from "./limits";
import { committedOf } from "./pending";
import { boundsOf, movedRange } from "./ranges";
import { axisChangeOf, type AxisChange } from "./space-map";
import type { Range, SheetRange } from "./types";
import type { Entry } from "./wire";

interface Maps {
  rows: AxisChange["map"];
  columns: AxisChange["map"];
}

/** Returns the range around what remains of a range, or undefined if all of it was deleted. */
export function mapRange<T extends Range>(range: T, maps: Partial<Maps>): T | undefined {
  const byRows = maps.rows === undefined ? [range] : movedRange(range, "rows", maps.rows);
  const { columns } = maps;
  const parts = columns === undefined ? byRows : byRows.flatMap((part) => movedRange(part, "columns", columns));
  if (parts.length === 0) return undefined;
  const corners = parts.flatMap(({ firstRow, rowCount, firstColumn, columnCount }) => [
    { row: firstRow, column: firstColumn },
    { row: firstRow + rowCount - 1, column: firstColumn + columnCount - 1 },
  ]);
  return { ...range, ...boundsOf(corners) };
}

export class KnownMoves {
  #moves: { position: number; change: AxisChange }[] = [];

  /** All moves after the position `floor` are known. */
  constructor(private floor: number) {}

  /** Adds the next entry. */
  add(entry: Entry): void {
    // What an entry moves whose operations are elsewhere is not known.
    if (entry.isExternal) return this.reset(entry.position);
    this.#moves.push(...movesOf(entry));
    const dropped = this.#moves.splice(0, this.#moves.length - MAX_KNOWN_MOVES);
    this.floor = Math.max(this.floor, dropped.at(-1)?.position ?? 0);
  }

  /** Forgets all moves up to a position. */
  reset(floor: number): void {
    [this.#moves, this.floor] = [[], floor];
  }

  /** Adds the entries after an earlier position, if they reach those that are known. */
  prepend(from: number, entries: readonly Entry[]): void {
    const earlier = entries.filter(({ position }) => position > from && position <= this.floor);
    if (earlier.at(-1)?.position !== this.floor || earlier.some(({ isExternal }) => isExternal)) return;
    this.#moves.unshift(...earlier.flatMap(movesOf));
    this.floor = from;
  }

  /** Whether the moves after an earlier position are not known, but few enough to be read. */
  canReach(position: number): boolean {
    return position < this.floor && this.floor - position <= MAX_KNOWN_MOVES;
  }

  /** Returns where the range is after the last entry, or undefined if it is not known or was deleted. */
  moved(range: SheetRange, from: number): SheetRange | undefined {
    if (from < this.floor) return undefined;
    let moved: SheetRange | undefined = range;
    for (const { position, change } of this.#moves) {
      if (position <= from || change.sheet !== range.sheet || moved === undefined) continue;
      moved = mapRange(moved, { [change.axis]: change.map });
    }
    return moved;
  }
}

function movesOf({ position, mutations }: Entry): { position: number; change: AxisChange }[] {
  const changes = mutations.flatMap(committedOf).map(axisChangeOf);
  return changes.flatMap((change) => (change === undefined ? [] : [{ position, change }]));
}
