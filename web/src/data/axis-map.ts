/**
 * Maps of row or column numbers from an older state of a sheet to a newer one. The twin of
 * `core/grid/src/axis_map`: it must give the same results.
 */

import { joinSpans } from "./decode-operation";
import type { Span } from "./wire";

/** Rows or columns that are consecutive in both states. */
export interface Run {
  readonly src: number;
  readonly dst: number;
  readonly len: number;
}

export class AxisMap {
  private constructor(
    readonly limit: number,
    /** Ascending in both states. Rows outside all runs were deleted or inserted. */
    readonly runs: readonly Run[],
    /** Runs whose order differs between the states, because of concurrent inserts. */
    readonly reordered: readonly Run[],
  ) {}

  static identity(limit: number): AxisMap {
    return new AxisMap(limit, [{ src: 0, dst: 0, len: limit }], []);
  }

  static insert(limit: number, before: number, count: number): AxisMap {
    const start = Math.min(before, limit);
    const end = Math.min(start + count, limit);
    const runs = joinRuns([
      { src: 0, dst: 0, len: start },
      { src: start, dst: end, len: limit - end },
    ]);
    return new AxisMap(limit, runs, []);
  }

  static delete(limit: number, spans: readonly Span[]): AxisMap {
    const runs: Run[] = [];
    let src = 0;
    let dst = 0;
    for (const span of spans) {
      const len = Math.max(0, Math.min(span.first, limit) - src);
      runs.push({ src, dst, len });
      src = Math.min(span.first + span.count, limit);
      dst += len;
    }
    runs.push({ src, dst, len: limit - src });
    return new AxisMap(limit, joinRuns(runs), []);
  }

  get isIdentity(): boolean {
    const [run] = this.runs;
    return this.runs.length === 1 && run?.src === 0 && run.dst === 0 && run.len === this.limit;
  }

  /** Returns the number of a row in the newer state, or undefined if it was deleted. */
  get(src: number): number | undefined {
    const contains = (run: Run | undefined) => run !== undefined && run.src <= src && src < run.src + run.len;
    const ordered = this.runs[firstIndex(this.runs, (run) => run.src + run.len <= src)];
    const run = contains(ordered) ? ordered : this.reordered.find(contains);
    return run === undefined ? undefined : run.dst + src - run.src;
  }

  /** Returns the number of a row in the older state, or undefined if it was inserted. */
  source(dst: number): number | undefined {
    const contains = (run: Run | undefined) => run !== undefined && run.dst <= dst && dst < run.dst + run.len;
    const ordered = this.runs[firstIndex(this.runs, (run) => run.dst + run.len <= dst)];
    const run = contains(ordered) ? ordered : this.reordered.find(contains);
    return run === undefined ? undefined : run.src + dst - run.dst;
  }

  /** Returns where an insert before `before` goes: directly before the next remaining row. */
  insertionPoint(before: number): number {
    const next = this.runs[firstIndex(this.runs, (run) => run.src + run.len <= before)];
    let best = next;
    for (const run of this.reordered) {
      const part = partWithin(run, before, this.limit);
      if (part !== undefined && (best === undefined || part.src < Math.max(best.src, before))) best = part;
    }
    if (best !== undefined) return best.dst + Math.max(0, before - best.src);
    const last = this.runs[this.runs.length - 1];
    return last === undefined ? this.limit : last.dst + last.len;
  }

  /** Returns what remains of `spans`, without rows that were inserted between. */
  keptSpans(spans: readonly Span[]): Span[] {
    const kept: Span[] = [];
    for (const { first, count } of spans) {
      const start = firstIndex(this.runs, (run) => run.src + run.len <= first);
      for (let index = start; index < this.runs.length; index += 1) {
        const part = partWithin(this.runs[index], first, first + count);
        if (part === undefined) break;
        kept.push({ first: part.dst, count: part.len });
      }
      for (const run of this.reordered) {
        const part = partWithin(run, first, first + count);
        if (part !== undefined) kept.push({ first: part.dst, count: part.len });
      }
    }
    return joinSpans(kept, this.limit);
  }

  reversed(): AxisMap {
    const reverse = (runs: readonly Run[]) => runs.map(({ src, dst, len }) => ({ src: dst, dst: src, len }));
    return new AxisMap(this.limit, reverse(this.runs), reverse(this.reordered));
  }

  /** Returns this map followed by `next`. */
  then(next: AxisMap): AxisMap {
    const composed: Run[] = [];
    let [own, other] = [0, 0];
    for (;;) {
      const [first, second] = [this.runs[own], next.runs[other]];
      if (first === undefined || second === undefined) break;
      const run = composeRuns(first, second);
      if (run !== undefined) composed.push(run);
      if (first.dst + first.len <= second.src + second.len) own += 1;
      else other += 1;
    }
    return new AxisMap(this.limit, joinRuns(composed), this.#composeReordered(next));
  }

  #composeReordered(next: AxisMap): Run[] {
    const composed: Run[] = [];
    const add = (first: Run, second: Run) => {
      const run = composeRuns(first, second);
      if (run !== undefined) composed.push(run);
    };
    for (const first of this.reordered) {
      for (const second of [...next.runs, ...next.reordered]) add(first, second);
    }
    for (const second of next.reordered) {
      for (const first of this.runs) add(first, second);
    }
    return composed;
  }

  /** Adds rows that the author inserted. Their order may differ between the states. */
  withRun(run: Run): AxisMap {
    const end = Math.max(run.src, run.dst) + run.len;
    if (run.len <= 0 || end > this.limit) return this;
    const index = firstIndex(this.runs, (other) => other.src < run.src);
    const [previous, next] = [this.runs[index - 1], this.runs[index]];
    const fits = isBefore(previous, run) && isBefore(run, next);
    if (!fits) return new AxisMap(this.limit, this.runs, [...this.reordered, run]);
    const runs = joinRuns([...this.runs.slice(0, index), run, ...this.runs.slice(index)]);
    return new AxisMap(this.limit, runs, this.reordered);
  }
}

function joinRuns(runs: readonly Run[]): Run[] {
  const joined: Run[] = [];
  for (const run of runs) {
    const last = joined[joined.length - 1];
    if (run.len <= 0) continue;
    const touches = last !== undefined && last.src + last.len === run.src && last.dst + last.len === run.dst;
    if (touches) joined[joined.length - 1] = { ...last, len: last.len + run.len };
    else joined.push(run);
  }
  return joined;
}

/** Returns the index of the first run for which `isEarlier` is false, by binary search. */
function firstIndex(runs: readonly Run[], isEarlier: (run: Run) => boolean): number {
  let [low, high] = [0, runs.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const run = runs[middle];
    if (run !== undefined && isEarlier(run)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function partWithin(run: Run | undefined, first: number, end: number): Run | undefined {
  if (run === undefined) return undefined;
  const src = Math.max(run.src, first);
  const len = Math.min(run.src + run.len, end) - src;
  return len > 0 ? { src, dst: run.dst + src - run.src, len } : undefined;
}

function composeRuns(first: Run, second: Run): Run | undefined {
  const start = Math.max(first.dst, second.src);
  const len = Math.min(first.dst + first.len, second.src + second.len) - start;
  return len > 0 ? { src: first.src + start - first.dst, dst: second.dst + start - second.src, len } : undefined;
}

function isBefore(first: Run | undefined, second: Run | undefined): boolean {
  if (first === undefined || second === undefined) return true;
  return first.src + first.len <= second.src && first.dst + first.len <= second.dst;
}
