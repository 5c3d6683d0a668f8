import type { LayoutShift } from "../data/types";

/** Own insertions and deletions that the source has not shown yet. */
export class OwnShifts {
  #waiting: LayoutShift[] = [];

  add(shift: LayoutShift): void {
    this.#waiting.push(shift);
  }

  clear(): void {
    this.#waiting = [];
  }

  /** Returns the shifts that a change shows. One that does not say which rows moved shows all own shifts. */
  shownBy({ axis, at, count }: Partial<LayoutShift>): { shift: LayoutShift; isOwn: boolean }[] {
    const [first, ...others] = this.#waiting;
    this.#waiting = [];
    if (axis === undefined || at === undefined || !count) return first ? [first, ...others].map((shift) => ({ shift, isOwn: true })) : [];
    const isOwn = first?.axis === axis && first.at === at && first.count === count;
    if (first) this.#waiting = isOwn ? others : [first, ...others];
    return [{ shift: { axis, at, count }, isOwn }];
  }
}
