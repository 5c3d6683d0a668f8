/**
 * Recognises the entries of this client. The server shows a key that it computes from the user and
 * the client id; the client learns it from the first of its edits that is answered.
 */

import type { Entry, MutationResult } from "./wire";

export type Ownership = "own" | "foreign" | "unknown";

export class OwnEntries {
  #key: string | null = null;
  readonly #positions = new Set<number>();

  /** Adds the answered edits, whose positions are then known to be own. */
  addAnswers(results: readonly MutationResult[]): void {
    for (const { position } of results) {
      if (position !== undefined) this.#positions.add(position);
    }
  }

  /** `sent` are the edits that the server may have, without an answer. */
  ownershipOf(entry: Entry, sent: readonly { id: number; base: number }[]): Ownership {
    if (entry.clientKey === undefined) return "foreign";
    if (this.#positions.delete(entry.position)) {
      this.#key = entry.clientKey;
      return "own";
    }
    if (this.#key !== null) return entry.clientKey === this.#key ? "own" : "foreign";
    // Another client may have used the same id and base, so that only the answer is proof.
    const isPossible = entry.mutations.some(({ id, base }) =>
      sent.some((edit) => edit.id === id && edit.base === base),
    );
    return isPossible ? "unknown" : "foreign";
  }

  /** Starts again as a new client. */
  reset(): void {
    this.#key = null;
    this.#positions.clear();
  }
}
