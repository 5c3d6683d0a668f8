import { EXACT_TRACK_END, MAX_TRACK_LENGTH } from "./limits";

/** A native scrollbar whose element is shorter than the sheet. */
export interface Track {
  /** Largest scroll position of the element, as measured: browsers round and clamp it. */
  travel: number;
  /** Largest offset of the sheet, in pixels. */
  maxOffset: number;
}

/** Returns the length of the tall element for a sheet of `length` pixels. */
export function trackLength(length: number, maxLength = MAX_TRACK_LENGTH): number {
  return Math.min(length, maxLength);
}

/**
 * Returns the sheet offset for a position of the scrollbar.
 *
 * The first and last pixels of the track are not scaled. Otherwise a wheel near the start of a long sheet would reach
 * position 0 of the scrollbar with rows left above.
 */
export function offsetOfTrack(position: number, track: Track): number {
  const { travel, maxOffset } = track;
  if (position >= travel - 0.5) return maxOffset;
  if (maxOffset <= travel + 1) return Math.min(position, maxOffset);
  const end = exactEnd(travel);
  if (position <= end) return Math.max(0, position);
  if (position >= travel - end) return maxOffset - (travel - position);
  return end + ((position - end) * (maxOffset - 2 * end)) / (travel - 2 * end);
}

/** The inverse of `offsetOfTrack`. */
export function trackOfOffset(offset: number, track: Track): number {
  const { travel, maxOffset } = track;
  if (maxOffset <= travel + 1) return Math.min(offset, travel);
  const end = exactEnd(travel);
  if (offset <= end) return offset;
  if (offset >= maxOffset - end) return travel - (maxOffset - offset);
  return end + ((offset - end) * (travel - 2 * end)) / (maxOffset - 2 * end);
}

function exactEnd(travel: number): number {
  return Math.min(EXACT_TRACK_END, travel / 4);
}
