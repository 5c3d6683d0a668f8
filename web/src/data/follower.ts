/** Reads the entries after the known position, in order and without a gap. */

import type { Api } from "./api";
import { isBaseLost, ProblemError } from "./api-error";
import { MalformedReply } from "./decode";
import { MAX_ENTRIES_TO_CATCH_UP } from "./limits";
import { follows } from "./position";
import type { CanonicalState } from "./canonical";
import type { Entry } from "./wire";

export interface FollowerEvents {
  /** Applies the next entry. Returns false if it cannot be applied yet. */
  entry(entry: Entry): boolean;
  /** Whether the state may be loaded again instead of applying very many entries. */
  mayReload(): boolean;
}

export type CatchUp = "current" | "changed" | "reload";

export class Follower {
  /** A position that the server has announced, so that the next request need not ask for it. */
  announced = 0;

  constructor(
    private readonly api: Api,
    private readonly state: CanonicalState,
    private readonly events: FollowerEvents,
  ) {}

  /** Applies all new entries. "reload" means that the state must be loaded from scratch. */
  async catchUp(signal: AbortSignal): Promise<CatchUp> {
    try {
      const isNews = this.announced > this.state.position;
      this.announced = 0;
      if (isNews) return await this.#readEntries(signal);
      const { head, incarnation } = await this.api.head(signal);
      if (incarnation !== this.state.incarnation) return "reload";
      // An earlier head is an old reply: positions never decrease within an incarnation.
      if (head <= this.state.position) return "current";
      return await this.#readEntries(signal);
    } catch (error) {
      if (error instanceof ProblemError && isBaseLost(error)) return "reload";
      throw error;
    }
  }

  async #readEntries(signal: AbortSignal): Promise<CatchUp> {
    let applied = 0;
    while (applied < MAX_ENTRIES_TO_CATCH_UP || !this.events.mayReload()) {
      const before = this.state.position;
      const reply = await this.api.entries(before, signal);
      if (reply.incarnation !== this.state.incarnation) return "reload";
      for (const entry of reply.entries) {
        if (entry.position <= this.state.position) continue;
        if (!follows(entry.position, this.state.position, this.state.endsSegment)) {
          throw new MalformedReply(`entry ${entry.position} does not follow ${this.state.position}`);
        }
        if (!this.events.entry(entry)) return applied > 0 ? "changed" : "current";
        applied += 1;
      }
      const isDone = reply.next === undefined && this.state.position >= reply.head;
      if (isDone || this.state.position === before) return applied > 0 ? "changed" : "current";
    }
    return "reload";
  }
}
