/** `index of X`: items by spans of rows or columns. */

import type { CborReader } from "./cbor";
import { malformed } from "./format-error";

/** Spans of equal size from `start` to the start of the next pair; a gap if `count` is 0. */
interface Pair {
  start: number;
  count: number;
  /** Index of the item of the first span. */
  index: number;
}

export interface Placed<T> {
  /** First row or column. */
  first: number;
  /** Row or column after the last one. */
  end: number;
  item: T;
}

export class SpanMap<T> {
  private constructor(
    private readonly pairs: readonly Pair[],
    private readonly items: readonly T[],
  ) {}

  static read<T>(cbor: CborReader, limit: number, readItem: () => T): SpanMap<T> {
    cbor.arrayOf(2, "an index");
    const pairs = readPairs(cbor.integers(limit, "the spans of an index"), limit);
    const items = cbor.list(Number.MAX_SAFE_INTEGER, "the items of an index", readItem);
    const spanCount = pairs.reduce((sum, { count }) => sum + count, 0);
    if (spanCount !== items.length) throw malformed(`an index has ${items.length} items for ${spanCount} spans`);
    return new SpanMap(pairs, items);
  }

  get isEmpty(): boolean {
    return this.pairs.length === 0;
  }

  /** The first row or column, and the one after the last. */
  get bounds(): { first: number; end: number } {
    return { first: this.pairs[0]?.start ?? 0, end: this.pairs[this.pairs.length - 1]?.start ?? 0 };
  }

  all(): Placed<T>[] {
    return this.between(0, Number.MAX_SAFE_INTEGER);
  }

  /** Returns the items whose spans have rows or columns from `first` to before `end`. */
  between(first: number, end: number): Placed<T>[] {
    const found: Placed<T>[] = [];
    for (let pair = this.#pairAt(first); pair < this.pairs.length - 1; pair += 1) {
      const { start, count, index } = this.pairs[pair] ?? NO_PAIR;
      if (start >= end) break;
      if (count === 0) continue;
      const size = ((this.pairs[pair + 1]?.start ?? 0) - start) / count;
      const from = Math.max(0, Math.floor((first - start) / size));
      for (let span = from; span < count && start + span * size < end; span += 1) {
        const item = this.items[index + span];
        if (item !== undefined) found.push({ first: start + span * size, end: start + (span + 1) * size, item });
      }
    }
    return found;
  }

  /** Returns the index of the last pair that starts at or before `place`, or 0. */
  #pairAt(place: number): number {
    let [low, high] = [0, this.pairs.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.pairs[middle]?.start ?? 0) <= place) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }
}

const NO_PAIR: Pair = { start: 0, count: 0, index: 0 };

function readPairs(numbers: readonly number[], limit: number): Pair[] {
  if (numbers.length % 2 !== 0) throw malformed("a span of an index has no count");
  const pairs: Pair[] = [];
  let [start, index] = [0, 0];
  for (let at = 0; at < numbers.length; at += 2) {
    const [distance = 0, count = 0] = numbers.slice(at, at + 2);
    if (distance === 0 && at > 0) throw malformed("the spans of an index do not ascend");
    start += distance;
    pairs.push({ start, count, index });
    index += count;
  }
  if (start > limit) throw malformed(`an index ends after ${limit}`);
  checkPairs(pairs);
  return pairs;
}

function checkPairs(pairs: readonly Pair[]): void {
  if (pairs.length === 0) return;
  if (pairs[0]?.count === 0 || pairs[pairs.length - 1]?.count !== 0) throw malformed("an index starts or ends with a gap");
  let previous = 0;
  pairs.slice(0, -1).forEach(({ start, count }, at) => {
    const width = (pairs[at + 1]?.start ?? 0) - start;
    const size = count === 0 ? 0 : width / count;
    if (!Number.isInteger(size)) throw malformed("the spans of an index are not whole");
    if (at > 0 && size === previous) throw malformed("adjacent spans or gaps of an index are not joined");
    previous = size;
  });
}
