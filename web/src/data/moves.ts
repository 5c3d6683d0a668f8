/** Which rows and columns of the display were inserted or deleted, so that views keep their place. */

import type { AxisMap } from "./axis-map";
import type { AxisChange } from "./space-map";
import type { LayoutShift } from "./types";
import type { View } from "./view";

/** Above it, views do not follow each single change. */
const MAX_SHIFTS = 64;

interface AxisMaps {
  rows: AxisMap;
  columns: AxisMap;
}

export class Moves {
  /** From what was displayed to the cells of the server, then and now, by sheet. */
  readonly #maps = new Map<number, { then: AxisMaps; now: AxisMaps }>();

  constructor(private readonly view: View) {}

  /** Call it before rows or columns of a sheet move. */
  begin(sheet: number): void {
    if (this.#maps.has(sheet)) return;
    const { rows, columns } = this.view.axisMaps(sheet);
    const then = { rows: rows.reversed(), columns: columns.reversed() };
    this.#maps.set(sheet, { then, now: { ...then } });
  }

  /** Adds a change of the server's cells. */
  add({ sheet, axis, map }: AxisChange): void {
    const now = this.#maps.get(sheet)?.now;
    if (now !== undefined) now[axis] = now[axis].then(map);
  }

  /** Returns the shifts since the last call, each in the coordinates after the previous one. None if they are very many. */
  take(): { sheet: number; shifts: LayoutShift[] }[] {
    const moved = [...this.#maps].map(([sheet, { then, now }]) => {
      const after = this.view.axisMaps(sheet);
      const shifts = (["rows", "columns"] as const).flatMap((axis) => shiftsOf(axis, now[axis].then(after[axis]), then[axis]));
      return { sheet, shifts: shifts.length > MAX_SHIFTS ? [] : shifts };
    });
    this.#maps.clear();
    return moved;
  }
}

/** `then` lacks the pending rows that were displayed. They stay, pending or confirmed, as far as rows are in their place. */
function shiftsOf(axis: LayoutShift["axis"], { runs }: AxisMap, then: AxisMap): LayoutShift[] {
  const shifts: LayoutShift[] = [];
  const add = (at: number, count: number) => count !== 0 && shifts.push({ axis, at, count });
  let [src, dst] = [0, 0];
  for (const run of runs) {
    if (shifts.length > MAX_SHIFTS) break;
    let pending = run.src - src;
    for (const known of pending === 0 ? [] : then.runs) {
      const first = Math.max(known.src, src);
      const deleted = Math.max(0, Math.min(known.src + known.len, run.src) - first);
      add(dst + first - run.src + pending, -deleted);
      pending -= deleted;
    }
    const added = run.dst - dst;
    add(dst + Math.min(pending, added), added - pending);
    [src, dst] = [run.src + run.len, run.dst + run.len];
  }
  return shifts;
}
