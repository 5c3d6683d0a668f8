/** What others have selected, moved to where it is displayed. */

import { mapRange, type KnownMoves } from "./known-moves";
import { PRESENCE_AGE_MS } from "./limits";
import type { Announced } from "./presence-reply";
import type { OtherSelection, SheetRange } from "./types";
import type { View } from "./view";

interface Known extends Announced {
  expiresMs: number;
  moves: number;
  /** Shown until the entries up to `at` are read. */
  previous?: Pick<Announced, "range" | "at">;
}

export class OtherSelections {
  #known: Known[] = [];
  #emitted = "[]";
  /** Views read it in every frame. */
  #shown: { of: readonly unknown[]; list: OtherSelection[] } = { of: [], list: [] };

  constructor(
    private readonly view: View,
    private readonly known: KnownMoves,
  ) {}

  /** Replaces all. Returns whether a client is new or has moved its selection. */
  replace(others: readonly Announced[], nowMs: number): boolean {
    const before = new Map(this.#known.map((other) => [other.client, other]));
    let haveMoved = false;
    this.#known = others.map((other) => {
      const earlier = before.get(other.client);
      const hasMoved = earlier === undefined || !this.#isSame(earlier, other);
      haveMoved ||= hasMoved;
      const moves = (earlier?.moves ?? 0) + (hasMoved ? 1 : 0);
      const known: Known = { ...other, expiresMs: nowMs + PRESENCE_AGE_MS - other.seenMsAgo, moves };
      const previous = earlier && (this.#isReached(earlier) ? earlier : earlier.previous);
      if (previous !== undefined && !this.#isReached(other)) known.previous = { range: previous.range, at: previous.at };
      return known;
    });
    return haveMoved;
  }

  /** Drops what the server no longer shows. Returns when the next one ends, or null. */
  expire(nowMs: number): number | null {
    this.#known = this.#known.filter(({ expiresMs }) => expiresMs > nowMs);
    return this.#known.length === 0 ? null : Math.min(...this.#known.map(({ expiresMs }) => expiresMs));
  }

  /** Returns whether there were any. */
  clear(): boolean {
    this.#known = [];
    return this.hasChanged();
  }

  shown(): OtherSelection[] {
    const of = [this.#known, this.view.canonical.position, this.view.pending, this.view.canonical.sheets];
    if (of.some((part, index) => part !== this.#shown.of[index])) this.#shown = { of, list: this.#computed() };
    return this.#shown.list;
  }

  /** In the order of the clients, so that it stays when one of them moves. */
  #computed(): OtherSelection[] {
    const shown = this.#known.flatMap((other) => {
      const range = this.#shownRange(this.#isReached(other) ? other : (other.previous ?? other));
      return range === undefined ? [] : [{ ...range, client: other.client, author: other.author, moves: other.moves }];
    });
    return shown.sort((left, right) => (left.client < right.client ? -1 : 1));
  }

  /** Returns whether what is shown has changed since the last call. */
  hasChanged(): boolean {
    this.#shown = { of: [], list: [] };
    const shown = JSON.stringify(this.shown());
    const hasChanged = shown !== this.#emitted;
    this.#emitted = shown;
    return hasChanged;
  }

  #isReached({ at }: Pick<Announced, "at">): boolean {
    return at <= this.view.canonical.position;
  }

  #shownRange({ range, at }: Pick<Announced, "range" | "at">): SheetRange | undefined {
    const isSheet = this.view.canonical.info(range.sheet) !== undefined;
    const moved = isSheet && this.#isReached({ at }) ? this.known.moved(range, at) : undefined;
    return moved && mapRange(moved, this.view.axisMaps(range.sheet));
  }

  /** A client may announce the same cells again, at a later position. */
  #isSame(left: Announced, right: Announced): boolean {
    const [one, other] = [left, right].map(({ range, at }) => this.known.moved(range, at) ?? { range, at });
    return JSON.stringify(one) === JSON.stringify(other);
  }
}
