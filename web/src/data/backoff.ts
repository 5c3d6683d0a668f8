/** Delays before retries and polls. The polling rule is that of `core/api/src/polling.rs`. */

import { POLL_MAX_MS, POLL_MIN_MS } from "./limits";

/** Returns a random number from 0 (inclusive) to 1 (exclusive). */
export type Random = () => number;

/** Returns a delay with full jitter, so that clients that failed together do not retry together. */
export function jitteredDelayMs(failures: number, baseMs: number, maxMs: number, random: Random): number {
  const MAX_DOUBLINGS = 20;
  const ceilingMs = Math.min(maxMs, baseMs * 2 ** Math.min(failures - 1, MAX_DOUBLINGS));
  return Math.floor(random() * ceilingMs);
}

export type PollEvent = "active" | "quiet" | "failed";

export interface Polling {
  /** The last delay that did not follow a failure. Initially 0. */
  readonly steadyDelayMs: number;
  readonly failures: number;
}

export const NEW_POLLING: Polling = { steadyDelayMs: 0, failures: 0 };

/** Returns the state after an event, and the delay before the next poll. */
export function stepPolling(polling: Polling, event: PollEvent, random: Random): [Polling, number] {
  if (event === "active") return [{ steadyDelayMs: POLL_MIN_MS, failures: 0 }, POLL_MIN_MS];
  if (event === "quiet") {
    const doubledMs = Math.max(POLL_MIN_MS, polling.steadyDelayMs * 2);
    const steadyDelayMs = Math.min(POLL_MAX_MS, doubledMs);
    return [{ steadyDelayMs, failures: 0 }, steadyDelayMs];
  }
  const failures = polling.failures + 1;
  const jitterMs = jitteredDelayMs(failures, 2 * POLL_MIN_MS, POLL_MAX_MS, random);
  return [{ ...polling, failures }, Math.max(POLL_MIN_MS, jitterMs)];
}

/** Waits, or returns early if the signal is aborted. */
export function sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, delayMs);
    signal?.addEventListener("abort", finish);
  });
}
