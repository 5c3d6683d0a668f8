/** What a sheet needs to follow others, beyond their edits: which rows they move, who they are, and what they have selected. */

import type { Random } from "./backoff";
import type { LiveUpdates } from "./live";
import { Moves } from "./moves";
import { Presence } from "./presence";
import { RecentEdits } from "./recent-edits";
import type { Source } from "./source";

interface FollowingParts {
  source: Source;
  random: Random;
  now: () => number;
  live: LiveUpdates;
}

export function followOthers({ source, random, now, live }: FollowingParts): Presence {
  const { emit, session, subscribe } = source;
  const presence = new Presence({ session, random, now, emit, subscribe, hint: () => live.wake() });
  [session.moves, session.recent] = [new Moves(session.view), new RecentEdits()];
  [source.presence, session.watcher] = [presence, presence];
  presence.select(source.selection);
  return presence;
}
