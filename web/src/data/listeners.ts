/** The listeners of a source. */

import type { SheetChange } from "./types";

export class Listeners {
  readonly #listeners = new Set<(change: SheetChange) => void>();

  emit(change: SheetChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        // A listener's fault must not stop the data layer, but must be seen.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  subscribe(listener: (change: SheetChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  clear(): void {
    this.#listeners.clear();
  }
}
