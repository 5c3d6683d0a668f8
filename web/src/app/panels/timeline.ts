/** The scale of the time slider: where entries are on the bar, and which entry is at a place. */

export interface TimelineEntry {
  position: number;
  createdS: number;
  author: string;
  text: string;
}

/**
 * Returns the place of each entry on the bar, from 0 to 1. Entries are oldest first. Half of a place is
 * the time and half is the order, so that entries of one minute are apart on a bar of a year.
 */
export function placesOf(entries: readonly Pick<TimelineEntry, "createdS">[]): number[] {
  const first = entries[0]?.createdS ?? 0;
  const length = (entries.at(-1)?.createdS ?? first) - first;
  return entries.map(({ createdS }, index) => {
    if (entries.length === 1) return 1;
    const order = index / (entries.length - 1);
    return length > 0 ? ((createdS - first) / length + order) / 2 : order;
  });
}

/** Returns the index of the entry that is nearest to a place. Of several, returns the newest. */
export function nearestEntry(places: readonly number[], place: number): number {
  let nearest = 0;
  places.forEach((candidate, index) => {
    const distance = Math.abs(candidate - place);
    if (distance <= Math.abs((places[nearest] ?? 0) - place)) nearest = index;
  });
  return nearest;
}

const BIG_STEP = 10;

/** Returns the index after a key, or null if the key does not move. */
export function indexAfterKey(key: string, index: number, count: number): number | null {
  const steps: Record<string, number> = {
    ArrowLeft: -1,
    ArrowDown: -1,
    ArrowRight: 1,
    ArrowUp: 1,
    PageDown: -BIG_STEP,
    PageUp: BIG_STEP,
    Home: -count,
    End: count,
  };
  const step = steps[key];
  return step === undefined ? null : Math.min(Math.max(index + step, 0), count - 1);
}
