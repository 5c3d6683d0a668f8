/** Announces what the user has selected, and knows what others have. The rule is in `presence-rule`. */

import { ProblemError } from "./api-error";
import type { Random } from "./backoff";
import { KnownMoves, mapRange } from "./known-moves";
import { MAX_KNOWN_MOVES, PRESENCE_AGE_MS } from "./limits";
import { OtherSelections } from "./other-selections";
import { decodePresence, selectionToJson, type Announced } from "./presence-reply";
import { NEW_PRESENCE, stepPresence, type PresenceAction, type PresenceEvent } from "./presence-rule";
import type { EntryWatcher, Session } from "./session";
import type { OtherSelection, SheetChange, SheetRange } from "./types";
import type { Entry } from "./wire";

interface PresenceParts {
  session: Session;
  random: Random;
  now: () => number;
  emit(change: SheetChange): void;
  subscribe(listener: (change: SheetChange) => void): () => void;
  /** Checks for news. */
  hint(): void;
}

const PATH = "/presence";

export class Presence implements EntryWatcher {
  #state = NEW_PRESENCE;
  readonly #moves: KnownMoves;
  readonly #others: OtherSelections;
  /** What the user has selected, as it was displayed when it was reported. */
  #selection: SheetRange | null = null;
  /** The same in the rows and columns of the server, at a position. */
  #own: { range: SheetRange; at: number } | null = null;
  /** The client whose selection others see. */
  #client: string | null = null;
  #isEnded = false;
  #isPageHidden = globalThis.document?.visibilityState === "hidden";
  /** Earlier moves were asked for after this position. */
  #askedFrom = Number.POSITIVE_INFINITY;
  #hintedAt = 0;
  #abort = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #expiry: ReturnType<typeof setTimeout> | undefined;
  readonly #unsubscribe: () => void;

  constructor(private readonly parts: PresenceParts) {
    const { session } = parts;
    this.#moves = new KnownMoves(session.view.canonical.position);
    this.#others = new OtherSelections(session.view, this.#moves);
    this.#unsubscribe = parts.subscribe(({ kind }) => {
      if (kind !== "others") this.#noteChange();
    });
    globalThis.document?.addEventListener("visibilitychange", this.#noteVisibility);
    globalThis.window?.addEventListener("pagehide", this.#noteVisibility);
    globalThis.window?.addEventListener("pageshow", this.#noteVisibility);
  }

  get others(): readonly OtherSelection[] {
    return this.#others.shown();
  }

  /** Notes what the user has selected, or null if the sheet is not shown. */
  select(selection: SheetRange | null): void {
    this.#selection = selection;
    const before = this.#own && this.#moves.moved(this.#own.range, this.#own.at);
    const range = selection === null ? undefined : this.#onServer(selection);
    this.#own = range === undefined ? null : { range, at: this.#position };
    if (range !== undefined && !isSame(before, range)) this.#step({ kind: "moved" });
    this.#updateActivity();
  }

  entry(entry: Entry, isOwn: boolean): void {
    this.#moves.add(entry);
    if (!isOwn && entry.clientKey !== undefined && entry.mutations.length > 0) this.#step({ kind: "edited" });
  }

  reset(position: number): void {
    this.#moves.reset(position);
    [this.#own, this.#askedFrom] = [null, Number.POSITIVE_INFINITY];
  }

  close(): void {
    this.#end();
    this.#unsubscribe();
    globalThis.document?.removeEventListener("visibilitychange", this.#noteVisibility);
    globalThis.window?.removeEventListener("pagehide", this.#noteVisibility);
    globalThis.window?.removeEventListener("pageshow", this.#noteVisibility);
  }

  #end(): void {
    this.#isEnded = true;
    this.#updateActivity();
    clearTimeout(this.#expiry);
    if (this.#others.clear()) this.parts.emit({ kind: "others" });
  }

  get #position(): number {
    return this.parts.session.view.canonical.position;
  }

  /** Returns where the server has displayed cells, or undefined if it does not have them yet. */
  #onServer(selection: SheetRange): SheetRange | undefined {
    const { view } = this.parts.session;
    if (view.canonical.info(selection.sheet) === undefined) return undefined;
    const { rows, columns } = view.axisMaps(selection.sheet);
    return mapRange(selection, { rows: rows.reversed(), columns: columns.reversed() });
  }

  readonly #noteVisibility = ({ type }: Event): void => {
    this.#isPageHidden = type === "pagehide" || globalThis.document?.visibilityState === "hidden";
    this.#updateActivity();
  };

  #noteChange(): void {
    // Cells of a waiting insertion have a place on the server when it is confirmed.
    if (this.#own === null && this.#selection !== null) this.select(this.#selection);
    else this.#updateActivity();
    this.#emitIfChanged();
  }

  #updateActivity(): void {
    const { session } = this.parts;
    const isOnline = session.isOnline && session.isConfirmed && !session.isRefused && !session.outbox.isUnreachable;
    const isActive = !this.#isEnded && !this.#isPageHidden && isOnline && this.#own !== null;
    if (isActive !== this.#state.isActive) this.#step({ kind: isActive ? "active" : "inactive" });
  }

  #step(event: PresenceEvent): void {
    const [state, action] = stepPresence(this.#state, event, this.parts.now(), this.parts.random);
    this.#state = state;
    clearTimeout(this.#timer);
    if (event.kind === "inactive") this.#abort.abort();
    this.#run(action);
  }

  #run(action: PresenceAction): void {
    if (action.kind === "wait") this.#timer = setTimeout(() => this.#step({ kind: "time" }), action.ms);
    else if (action.kind === "leave") this.#leave();
    else if (action.kind !== "rest") void this.#ask(action.kind);
  }

  async #ask(kind: "announce" | "read"): Promise<void> {
    const { signal } = (this.#abort = new AbortController());
    try {
      const others = await (kind === "announce" ? this.#announce(signal) : this.#read(signal));
      if (!signal.aborted) this.#step(this.#note(others));
    } catch (error) {
      if (signal.aborted) return;
      const isProblem = error instanceof ProblemError;
      // An older stack knows no presence.
      if (isProblem && (error.status === 404 || error.status === 405)) {
        this.#client = null;
        this.#end();
      } else this.#step({ kind: "failed", askedMs: (isProblem ? error.retryAfterMs : null) ?? 0 });
    }
  }

  async #announce(signal: AbortSignal): Promise<Announced[]> {
    const { api, outbox } = this.parts.session;
    const range = this.#own && this.#moves.moved(this.#own.range, this.#own.at);
    if (!range) throw new Error("the selected cells were deleted");
    // The tab may have become another client.
    if (this.#client !== outbox.client) this.#leave();
    this.#client = outbox.client;
    const body = { client_id: outbox.client, selection: selectionToJson(range, this.#position) };
    return api.once({ path: PATH, method: "PUT", body, signal, decode: decodePresence });
  }

  #read(signal: AbortSignal): Promise<Announced[]> {
    const { api, outbox } = this.parts.session;
    return api.once({ path: PATH, query: { client_id: outbox.client }, signal, decode: decodePresence });
  }

  #leave(): void {
    const { api, isOnline } = this.parts.session;
    if (this.#client === null || !isOnline) return;
    const body = { client_id: this.#client };
    this.#client = null;
    // The server forgets the selection anyway, only later.
    api.once({ path: PATH, method: "PUT", body, keepalive: true, decode: () => true }).catch(() => undefined);
  }

  #note(others: readonly Announced[]): PresenceEvent {
    const nowMs = this.parts.now();
    const haveOthersMoved = this.#others.replace(others, nowMs);
    this.#expire(nowMs);
    this.#emitIfChanged();
    this.#hintAtNews(others);
    void this.#readEarlierMoves(others);
    return { kind: "answered", othersForMs: Math.max(0, ...others.map(({ seenMsAgo }) => PRESENCE_AGE_MS - seenMsAgo)), haveOthersMoved };
  }

  /** A selection at a later position says that the log has grown. The server does not check the position. */
  #hintAtNews(others: readonly Announced[]): void {
    const newest = Math.max(0, ...others.map(({ at }) => at).filter((at) => at <= this.#position + MAX_KNOWN_MOVES));
    if (newest <= Math.max(this.#hintedAt, this.#position)) return;
    this.#hintedAt = newest;
    if (this.parts.session.announce(newest)) this.parts.hint();
  }

  /** Others may have announced their selection before this page was opened, at an earlier position. */
  async #readEarlierMoves(others: readonly Announced[]): Promise<void> {
    const earliest = Math.min(...others.map(({ at }) => at).filter((at) => this.#moves.canReach(at)));
    if (earliest >= this.#askedFrom || earliest === Number.POSITIVE_INFINITY) return;
    this.#askedFrom = earliest;
    const { session } = this.parts;
    const reply = await session.api.entries(earliest, this.#abort.signal).catch(() => null);
    if (reply === null || reply.incarnation !== session.view.canonical.incarnation) return;
    this.#moves.prepend(earliest, reply.entries);
    this.#emitIfChanged();
  }

  #expire(nowMs: number): void {
    clearTimeout(this.#expiry);
    const nextMs = this.#others.expire(nowMs);
    if (nextMs === null) return;
    this.#expiry = setTimeout(() => {
      this.#expire(this.parts.now());
      this.#emitIfChanged();
    }, nextMs - nowMs);
  }

  #emitIfChanged(): void {
    if (this.#others.hasChanged()) this.parts.emit({ kind: "others" });
  }
}

function isSame(left: SheetRange | null | undefined, right: SheetRange): boolean {
  const keys = ["sheet", "firstRow", "rowCount", "firstColumn", "columnCount"] as const;
  return !!left && keys.every((key) => left[key] === right[key]);
}
