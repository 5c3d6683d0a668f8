/** Runs a check for news by the polling rule, and at once when something hints at news. */

import { NEW_POLLING, stepPolling, type PollEvent, type Random } from "./backoff";

/**
 * A source of hints at news, such as server-sent events or a WebSocket. A hint may
 * be lost or repeated: the check itself finds what is new.
 */
export interface HintSource {
  /** Returns a function that ends the hints. */
  start(hint: () => void): () => void;
}

export class LiveUpdates {
  #polling = NEW_POLLING;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isChecking = false;
  #isHinted = false;
  #isClosed = false;
  #endHints: (() => void)[] = [];

  constructor(
    /** Reads all news. Never throws. */
    private readonly check: () => Promise<PollEvent>,
    private readonly random: Random,
    private readonly sources: readonly HintSource[],
  ) {}

  /** Begins to check. Resolves after the first check, which no hint makes longer. */
  async start(): Promise<void> {
    await this.#run();
    if (!this.#isClosed) this.#endHints = this.sources.map((source) => source.start(() => this.wake()));
  }

  /** Checks now. A hint during a check causes another one. */
  wake(): void {
    this.#isHinted = true;
    clearTimeout(this.#timer);
    if (!this.#isChecking && !this.#isClosed) void this.#run();
  }

  /** Polls often again, because the user made an edit. */
  noteEdit(): void {
    const [polling, delayMs] = stepPolling(this.#polling, "active", this.random);
    this.#polling = polling;
    if (!this.#isChecking) this.#schedule(delayMs);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const end of this.#endHints) end();
  }

  async #run(): Promise<void> {
    [this.#isChecking, this.#isHinted] = [true, true];
    let event: PollEvent = "quiet";
    while (this.#isHinted && !this.#isClosed) {
      this.#isHinted = false;
      event = await this.check();
    }
    this.#isChecking = false;
    const [polling, delayMs] = stepPolling(this.#polling, event, this.random);
    this.#polling = polling;
    this.#schedule(delayMs);
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#timer);
    if (!this.#isClosed) this.#timer = setTimeout(() => this.wake(), delayMs);
  }
}

/** Hints when the browser is online again, or the page visible. */
export const BROWSER_HINTS: HintSource = {
  start(hint) {
    if (typeof window === "undefined") return () => undefined;
    const ifVisible = () => {
      if (document.visibilityState === "visible") hint();
    };
    window.addEventListener("online", hint);
    document.addEventListener("visibilitychange", ifVisible);
    return () => {
      window.removeEventListener("online", hint);
      document.removeEventListener("visibilitychange", ifVisible);
    };
  },
};
