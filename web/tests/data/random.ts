/** Random numbers that a seed determines, so that a failing property can be repeated. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed + 1) * 0x9e3779b1;
  }

  /** Returns an integer from 0 (inclusive) to `limit` (exclusive). */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  isTrue(): boolean {
    return this.below(2) === 0;
  }
}
