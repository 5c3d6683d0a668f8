/**
 * The log as one client sees it: where the server puts the mutations of this client, given the
 * entries after their bases. The twin of `core/log/src/viewpoint`.
 */

import { SpaceMap, transform } from "./space-map";
import type { Operation } from "./wire";

/** A committed change that moves rows or columns. Those of the client itself are `own`. */
export interface Change {
  readonly position: number;
  readonly committed: readonly Operation[];
  readonly own?: { readonly base: number; readonly authored: Operation };
}

/** An own mutation in the coordinates of another base, or undefined if it has no effect. */
type Rebased = Operation | undefined;

/** The changes after the lowest base of the pending edits, in the order of the log. */
export class Viewpoint {
  constructor(private readonly changes: readonly Change[]) {}

  with(change: Change): Viewpoint {
    return new Viewpoint([...this.changes, change]);
  }

  /** Returns the map from the client's coordinates at `base` to those after the last change. */
  mapFrom(base: number): SpaceMap {
    const seen = this.#seenBase(base);
    return this.#buildMap(seen, Number.POSITIVE_INFINITY, this.#pendingAt(seen));
  }

  /** Returns the position after which changes are needed for a mutation on `base`. */
  firstNeeded(base: number): number {
    let lowest = base;
    for (;;) {
      const own = this.changes.find((change) => change.own !== undefined && change.position > lowest)?.own;
      if (own === undefined || own.base >= lowest) return lowest;
      lowest = own.base;
    }
  }

  /**
   * A client that sends a mutation with a base has received all entries up to that base, also
   * when it then sends a mutation with a lower base.
   */
  #seenBase(base: number): number {
    const last = this.changes.findLast((change) => change.own !== undefined);
    return last?.own !== undefined && last.position > base ? Math.max(last.own.base, base) : base;
  }

  /** Returns the own mutations committed after `base`, in the coordinates seen at `base`. */
  #pendingAt(base: number): Rebased[] {
    const pendingAt = new Map<number, Rebased[]>();
    for (let current = this.firstNeeded(base); ; current = this.#nextOwnBase(current, base)) {
      const pending = this.#rebasePending(current, pendingAt);
      if (current >= base) return pending;
      pendingAt.set(current, pending);
    }
  }

  #nextOwnBase(after: number, atMost: number): number {
    const own = this.changes.find((change) => change.own !== undefined && change.own.base > after)?.own;
    return own === undefined ? atMost : Math.min(own.base, atMost);
  }

  #rebasePending(target: number, pendingAt: ReadonlyMap<number, Rebased[]>): Rebased[] {
    const rebased: Rebased[] = [];
    const later = this.changes.filter((change) => change.own !== undefined && change.position > target);
    // One step may add several mutations, so the next one is found by the number added so far.
    for (let own = later[0]?.own; own !== undefined && own.base <= target; own = later[rebased.length]?.own) {
      const pending = pendingAt.get(own.base);
      if (pending === undefined) {
        rebased.push(own.authored);
        continue;
      }
      const map = this.#buildMap(own.base, target, pending);
      const stillPending = pending.slice(this.#ownCount(own.base, target));
      if (!appendRebased(rebased, stillPending, map)) break;
    }
    return rebased;
  }

  /** Builds the map of the changes in (`after`, `until`]. `pending` are the own ones after `after`. */
  #buildMap(after: number, until: number, pending: readonly Rebased[]): SpaceMap {
    let map = SpaceMap.IDENTITY;
    let ownIndex = 0;
    for (const change of this.changes) {
      if (change.position <= after) continue;
      if (change.position > until) break;
      const authored = change.own === undefined ? undefined : pending[ownIndex];
      if (change.own !== undefined) ownIndex += 1;
      map = authored === undefined ? map.withForeign(change.committed) : map.withOwn(authored, change.committed);
    }
    return map;
  }

  /** Returns how many own changes are in (`after`, `until`]. */
  #ownCount(after: number, until: number): number {
    const isOwn = (change: Change) => change.own !== undefined && change.position > after;
    return this.changes.filter((change) => isOwn(change) && change.position <= until).length;
  }
}

/** Transforms `pending` with `map` and appends what `rebased` does not contain yet. */
function appendRebased(rebased: Rebased[], pending: readonly Rebased[], start: SpaceMap): boolean {
  const before = rebased.length;
  let map = start;
  pending.forEach((operation, index) => {
    if (index < before) {
      const earlier = rebased[index];
      if (operation !== undefined) map = map.withOwn(operation, earlier === undefined ? [] : [earlier]);
    } else if (operation === undefined) {
      rebased.push(undefined);
    } else {
      const transformed = transform(operation, map);
      map = map.withOwn(operation, transformed);
      rebased.push(transformed[0]);
    }
  });
  return rebased.length > before;
}
