/**
 * Follows the stream of pokes, which are hints that the spreadsheet has grown. A poke may be lost,
 * so that polling continues. Stacks on AWS send none.
 */

import type { Api } from "./api";
import { isTransient } from "./api-error";
import { jitteredDelayMs, sleep, type Random } from "./backoff";
import type { HintSource } from "./live";
import { POKE_SILENCE_MS, POLL_MAX_MS, POLL_MIN_MS } from "./limits";

/** Events and comments are much shorter. A longer one is not a poke. */
const MAX_EVENT_LENGTH = 4_096;

/** Returns the complete events of a text, as the positions of their pokes, and the rest of it. */
export function readPokes(text: string): { heads: number[]; rest: string } {
  const events = text.split("\n\n");
  const rest = events.pop() ?? "";
  const heads = events.map((event) => Number(/^data: ?\{.*"head":(\d+)[,}]/m.exec(event)?.[1] ?? Number.NaN));
  return { heads: heads.filter(Number.isSafeInteger), rest };
}

export class PokeStream implements HintSource {
  constructor(
    private readonly api: Api,
    private readonly random: Random,
    /** Called with the newest position. Returns whether it is news. */
    private readonly announce: (head: number) => boolean,
  ) {}

  start(hint: () => void): () => void {
    const closed = new AbortController();
    void this.#run(hint, closed.signal);
    return () => closed.abort();
  }

  async #run(hint: () => void, closed: AbortSignal): Promise<void> {
    let failures = 0;
    while (!closed.aborted) {
      // A browser has few connections to one server, which hidden tabs must not use up.
      await untilVisible(closed);
      const startMs = Date.now();
      try {
        await this.#follow(closed, hint);
      } catch (error) {
        if (!isTransient(error)) return;
      }
      failures = Date.now() - startMs > POKE_SILENCE_MS ? 1 : failures + 1;
      await sleep(POLL_MIN_MS / 2 + jitteredDelayMs(failures, POLL_MIN_MS, POLL_MAX_MS, this.random), closed);
    }
  }

  /** Resolves when the server ends the stream or is silent for too long. */
  async #follow(closed: AbortSignal, hint: () => void): Promise<void> {
    const end = new AbortController();
    const abort = () => end.abort();
    const endIfHidden = () => isHidden() && abort();
    let timer = setTimeout(abort, POKE_SILENCE_MS);
    closed.addEventListener("abort", abort);
    globalThis.document?.addEventListener("visibilitychange", endIfHidden);
    try {
      let text = "";
      for await (const part of this.api.pokes(end.signal)) {
        clearTimeout(timer);
        timer = setTimeout(abort, POKE_SILENCE_MS);
        const { heads, rest } = readPokes(text + part);
        text = rest.slice(-MAX_EVENT_LENGTH);
        if (heads.length > 0 && this.announce(Math.max(...heads))) hint();
      }
    } finally {
      clearTimeout(timer);
      closed.removeEventListener("abort", abort);
      globalThis.document?.removeEventListener("visibilitychange", endIfHidden);
      abort();
    }
  }
}

function isHidden(): boolean {
  return globalThis.document?.visibilityState === "hidden";
}

function untilVisible(closed: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (isHidden() && !closed.aborted) return;
      closed.removeEventListener("abort", check);
      globalThis.document?.removeEventListener("visibilitychange", check);
      resolve();
    };
    closed.addEventListener("abort", check);
    globalThis.document?.addEventListener("visibilitychange", check);
    check();
  });
}
