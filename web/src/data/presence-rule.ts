/** When a page announces its selection, and when it reads those of others: the rule of `docs/design/clients.md`. */

import { jitteredDelayMs, type Random } from "./backoff";
import { ALONE_ANNOUNCE_MS, MAX_PRESENCE_DELAY_MS, MOVED_MS, PRESENCE_AGE_MS, PRESENCE_MS, RENEW_MS } from "./limits";

export type PresenceEvent =
  | { kind: "moved" }
  /** Another client edited cells. */
  | { kind: "edited" }
  /** `othersForMs` says how much longer the newest selection of another client is shown; 0 if there is none. */
  | { kind: "answered"; othersForMs: number; haveOthersMoved: boolean }
  /** `askedMs` is how long the server asks to wait. */
  | { kind: "failed"; askedMs: number }
  /** The page is visible and online, and shows the newest state, or not any more. */
  | { kind: "active" | "inactive" }
  | { kind: "time" };

export type PresenceAction = { kind: "announce" | "read" | "leave" | "rest" } | { kind: "wait"; ms: number };

export interface PresenceState {
  readonly isActive: boolean;
  /** The request without an answer. */
  readonly sent: "announce" | "read" | null;
  /** Whether the selection has to be announced. */
  readonly isNews: boolean;
  /** Whether others may see the announced selection. */
  readonly isAnnounced: boolean;
  readonly announcedMs: number;
  readonly askedMs: number;
  /** When a selection moved, of this page or of another one. */
  readonly movedMs: number;
  readonly seenUntilMs: number;
  readonly editedUntilMs: number;
  /** Answers without others, one after the other. */
  readonly emptyAnswers: number;
  readonly failures: number;
  readonly notBeforeMs: number;
  /** Pages that saw the same edit must not ask at the same time for ever. */
  readonly jitter: number;
}

const NEVER = Number.NEGATIVE_INFINITY;

export const NEW_PRESENCE: PresenceState = {
  isActive: false,
  sent: null,
  isNews: false,
  isAnnounced: false,
  announcedMs: NEVER,
  askedMs: NEVER,
  movedMs: NEVER,
  seenUntilMs: NEVER,
  editedUntilMs: NEVER,
  emptyAnswers: 0,
  failures: 0,
  notBeforeMs: NEVER,
  jitter: 0,
};

/** Returns the state after an event, and what to do. After `wait`, send the event `time`. */
export function stepPresence(state: PresenceState, event: PresenceEvent, nowMs: number, random: Random): [PresenceState, PresenceAction] {
  if (event.kind === "inactive") return leave(state, nowMs);
  const after = apply(state, event, nowMs, random);
  if (!after.isActive || after.sent !== null) return [after, { kind: "rest" }];
  const [announceMs, readMs] = [announceDueMs(after, nowMs), readDueMs(after, nowMs)];
  if (announceMs <= nowMs) return [send(after, "announce", nowMs, random), { kind: "announce" }];
  if (readMs <= nowMs) return [send(after, "read", nowMs, random), { kind: "read" }];
  const dueMs = Math.min(announceMs, readMs);
  return [after, dueMs === Number.POSITIVE_INFINITY ? { kind: "rest" } : { kind: "wait", ms: dueMs - nowMs }];
}

function apply(state: PresenceState, event: PresenceEvent, nowMs: number, random: Random): PresenceState {
  switch (event.kind) {
    case "moved":
      return { ...state, isNews: true, movedMs: nowMs };
    case "edited": {
      // A program that edits all the time is no page whose selection could be seen: it does not start the reads again.
      const emptyAnswers = isWithOthers(state, nowMs) ? state.emptyAnswers : 0;
      return { ...state, editedUntilMs: nowMs + PRESENCE_AGE_MS, emptyAnswers, movedMs: nowMs };
    }
    case "active":
      return { ...state, isActive: true };
    case "answered":
      return {
        ...state,
        sent: null,
        failures: 0,
        // Who leaves often comes back, because people switch between tabs: reads become rarer, but do not end at once.
        seenUntilMs: event.othersForMs > 0 ? nowMs + event.othersForMs : state.seenUntilMs,
        emptyAnswers: event.othersForMs > 0 ? 0 : state.emptyAnswers + 1,
        movedMs: event.haveOthersMoved ? nowMs : state.movedMs,
      };
    case "failed": {
      const failures = state.failures + 1;
      const delayMs = jitteredDelayMs(failures, 2 * PRESENCE_MS, MAX_PRESENCE_DELAY_MS, random);
      const notBeforeMs = nowMs + Math.max(PRESENCE_MS, delayMs, event.askedMs);
      return { ...state, sent: null, failures, notBeforeMs, isNews: state.isNews || state.sent === "announce" };
    }
    default:
      return state;
  }
}

function leave(state: PresenceState, nowMs: number): [PresenceState, PresenceAction] {
  const isShown = state.isAnnounced && nowMs - state.announcedMs < PRESENCE_AGE_MS;
  const after = { ...state, isActive: false, sent: null, isNews: state.isNews || state.isAnnounced, isAnnounced: false };
  return [after, { kind: isShown ? "leave" : "rest" }];
}

function send(state: PresenceState, sent: "announce" | "read", nowMs: number, random: Random): PresenceState {
  const asked = { ...state, sent, askedMs: nowMs, jitter: random() };
  return sent === "read" ? asked : { ...asked, announcedMs: nowMs, isNews: false, isAnnounced: true };
}

function isWithOthers({ seenUntilMs, editedUntilMs }: PresenceState, nowMs: number): boolean {
  return nowMs < Math.max(seenUntilMs, editedUntilMs);
}

function isFollowing(state: PresenceState, nowMs: number): boolean {
  return isWithOthers(state, nowMs) && nowMs - state.movedMs < MOVED_MS;
}

function announceDueMs(state: PresenceState, nowMs: number): number {
  const { isNews, isAnnounced, announcedMs, failures } = state;
  // Others would count as alone if the selection of a person who only watches were no longer shown.
  if (!isNews) return isFollowing(state, nowMs) && nowMs < state.seenUntilMs ? dueMs(state, announcedMs, RENEW_MS) : Number.POSITIVE_INFINITY;
  // A page that is opened or shown again is not seen yet.
  const isOften = !isAnnounced || failures > 0 || isWithOthers(state, nowMs);
  return dueMs(state, announcedMs, isOften ? PRESENCE_MS : ALONE_ANNOUNCE_MS);
}

function readDueMs(state: PresenceState, nowMs: number): number {
  if (!isFollowing(state, nowMs)) return Number.POSITIVE_INFINITY;
  return dueMs(state, state.askedMs, Math.min(ALONE_ANNOUNCE_MS, PRESENCE_MS * 2 ** Math.min(state.emptyAnswers, 10)));
}

function dueMs({ notBeforeMs, jitter }: PresenceState, lastMs: number, gapMs: number): number {
  const JITTER_PART = 0.1;
  return Math.max(notBeforeMs, lastMs + gapMs * (1 + jitter * JITTER_PART));
}
