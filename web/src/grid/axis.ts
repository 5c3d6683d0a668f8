/** Sizes of the rows or columns of a sheet. Immutable; sizes other than the default are stored sparsely. */
export class Axis {
  readonly #indexes: readonly number[];
  /** `starts[k]` is the offset in pixels of the index `indexes[k]`. */
  readonly #starts: readonly number[];
  /** Total length of all indexes, in pixels. Exact: 2^30 rows of 2,000 pixels fit a double. */
  readonly length: number;

  constructor(
    readonly count: number,
    readonly defaultSize: number,
    private readonly sizes: ReadonlyMap<number, number> = new Map(),
  ) {
    this.#indexes = [...sizes.keys()].filter((index) => index < count).sort((a, b) => a - b);
    const starts: number[] = [];
    let extra = 0;
    for (const index of this.#indexes) {
      starts.push(index * defaultSize + extra);
      extra += this.sizeOf(index) - defaultSize;
    }
    this.#starts = starts;
    this.length = count * defaultSize + extra;
  }

  /** Returns the sizes other than the default. */
  ownSizes(): [index: number, size: number][] {
    return this.#indexes.map((index) => [index, this.sizeOf(index)]);
  }

  sizeOf(index: number): number {
    return this.sizes.get(index) ?? this.defaultSize;
  }

  /** Returns the offset of an index, or the total length for `count`. */
  offsetOf(index: number): number {
    const slot = this.#lastSlot(this.#indexes, index - 1);
    if (slot < 0) return index * this.defaultSize;
    const own = this.#indexes[slot]!;
    return this.#starts[slot]! + this.sizeOf(own) + (index - own - 1) * this.defaultSize;
  }

  /** Returns the index at an offset, clamped to the axis. */
  indexAt(offset: number): number {
    if (offset <= 0 || this.count === 0) return 0;
    const slot = this.#lastSlot(this.#starts, offset);
    let index = Math.floor(offset / this.defaultSize);
    if (slot >= 0) {
      const own = this.#indexes[slot]!;
      const beyond = offset - this.#starts[slot]! - this.sizeOf(own);
      index = beyond < 0 ? own : own + 1 + Math.floor(beyond / this.defaultSize);
    }
    return Math.min(index, this.count - 1);
  }

  withCount(count: number): Axis {
    return count === this.count ? this : new Axis(count, this.defaultSize, this.sizes);
  }

  withSizes(changed: Iterable<readonly [index: number, size: number]>): Axis {
    const sizes = new Map(this.sizes);
    for (const [index, size] of changed) {
      if (size === this.defaultSize) sizes.delete(index);
      else sizes.set(index, size);
    }
    return new Axis(this.count, this.defaultSize, sizes);
  }

  /** Moves the sizes after an insertion. The caller sets the new count. */
  withInserted(before: number, count: number): Axis {
    const sizes = new Map<number, number>();
    for (const [index, size] of this.sizes) sizes.set(index >= before ? index + count : index, size);
    return new Axis(this.count, this.defaultSize, sizes);
  }

  withDeleted(first: number, count: number): Axis {
    const sizes = new Map<number, number>();
    for (const [index, size] of this.sizes) {
      if (index < first) sizes.set(index, size);
      else if (index >= first + count) sizes.set(index - count, size);
    }
    return new Axis(this.count, this.defaultSize, sizes);
  }

  /** Returns the last slot whose value is at most `limit`, or -1. */
  #lastSlot(values: readonly number[], limit: number): number {
    let low = 0;
    let high = values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle]! <= limit) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
