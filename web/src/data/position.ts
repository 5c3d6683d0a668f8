/** Positions of entries: segment · 2³² + number of the entry within the segment. */

const ENTRIES_PER_SEGMENT = 2 ** 32;

/** Returns a position as people write it, such as `0.42`. */
export function positionText(position: number): string {
  return `${Math.floor(position / ENTRIES_PER_SEGMENT)}.${position % ENTRIES_PER_SEGMENT}`;
}

function firstOfNextSegment(position: number): number {
  return (Math.floor(position / ENTRIES_PER_SEGMENT) + 1) * ENTRIES_PER_SEGMENT;
}

/**
 * Returns whether `next` directly follows `previous`. `endsSegment` says whether the entry at
 * `previous` ends its segment; undefined if its kind is not known.
 */
export function follows(next: number, previous: number, endsSegment: boolean | undefined): boolean {
  const isInSegment = next === previous + 1;
  const isInNextSegment = next === firstOfNextSegment(previous);
  if (endsSegment === undefined) return isInSegment || isInNextSegment;
  return endsSegment ? isInNextSegment : isInSegment;
}
