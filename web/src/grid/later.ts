export type Parts = typeof import("./later-parts");

const NOT_LOADED = "A part of the page could not be loaded. Check the connection and try again.";

/** Loads the parts that the first cells do not need: when the browser is idle, or when one is used before. */
export class Later {
  #loading: Promise<Parts> | null = null;
  parts: Parts | null = null;
  #isPrepared = false;

  /** `created` is called once, before the parts are used. */
  constructor(
    private readonly created: (parts: Parts) => void,
    private readonly notify: (message: string) => void,
  ) {}

  /** Loads the parts when the browser is idle. If that fails, the next use tries again. */
  prepare(): void {
    if (this.#isPrepared) return;
    this.#isPrepared = true;
    const start = (): void => void this.load().catch(() => undefined);
    // Safari has no `requestIdleCallback`.
    if (typeof requestIdleCallback === "function") requestIdleCallback(start, { timeout: 2_000 });
    else setTimeout(start, 200);
  }

  /** Uses the parts at once if they are loaded, as events of the clipboard need it. */
  use(run: (parts: Parts) => void): void {
    if (this.parts) run(this.parts);
    else this.load().then(run, () => this.notify(NOT_LOADED));
  }

  load(): Promise<Parts> {
    this.#loading ??= import("./later-parts").then(
      (parts) => {
        this.parts = parts;
        this.created(parts);
        return parts;
      },
      (error: unknown) => {
        this.#loading = null;
        throw error;
      },
    );
    return this.#loading;
  }
}
