/** Repeats requests that have the same effect however often they are sent. */

import { isTransient, ProblemError } from "../data/api-error";
import { jitteredDelayMs, sleep } from "../data/backoff";
import { MAX_ATTEMPTS } from "../data/limits";
import type { StackClient, StackRequest } from "./http";

const BASE_MS = 200;
const MAX_MS = 5_000;

/** Returns the body of the reply. The request must be idempotent. */
export async function sendRepeatedly<T>(stack: StackClient, request: StackRequest<T>): Promise<T> {
  return repeated(async () => (await stack.send(request)).body, request.signal);
}

export async function repeated<T>(send: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send();
    } catch (error) {
      if (attempt >= MAX_ATTEMPTS || !isTransient(error) || signal?.aborted === true) throw error;
      const askedMs = error instanceof ProblemError ? (error.retryAfterMs ?? 0) : 0;
      await sleep(Math.max(askedMs, jitteredDelayMs(attempt, BASE_MS, MAX_MS, Math.random)), signal);
    }
  }
}
