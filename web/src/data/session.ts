/** Keeps the displayed state, the outbox and the server in step. */

import { AbortedError, isRefusal, isTransient, messageOf, ProblemError } from "./api-error";
import type { Api } from "./api";
import type { PollEvent } from "./backoff";
import type { Outbox } from "./outbox";
import type { Step, StoredEdit } from "./outbox-store";
import { decodeOperation } from "./decode-operation";
import { Follower, type CatchUp } from "./follower";
import { UndoHistory } from "./history";
import type { Moves } from "./moves";
import { OwnEntries } from "./own-edits";
import { committedOf } from "./pending";
import { axisChangeOf, type AxisChange } from "./space-map";
import type { RecentEdit, RecentEdits } from "./recent-edits";
import type { LayoutShift, Range, SheetChange } from "./types";
import { View } from "./view";
import type { CanonicalState } from "./canonical";
import { MAX_ENTRIES_AFTER_STORED } from "./limits";
import type { DetailsReply, Entry, MutationResult, Role, SheetsReply } from "./wire";

export interface SessionEvents {
  emit(change: SheetChange): void;
  /** Cells changed. */
  cells(sheet: number, ranges: Range[]): void;
  /** An entry of the log was applied. */
  applied(entry: Entry): void;
  /** Others edited cells. Called once for all entries that arrive together. */
  edited(edits: readonly RecentEdit[]): void;
  /** Rows or columns of the display moved. Without shifts, any cell may be elsewhere. */
  moved(sheet: number, shifts: readonly LayoutShift[]): void;
  /** The cache changed: blocks may have to be loaded again. */
  cacheChanged(): void;
}

/** Follows the entries that are read. */
export interface EntryWatcher {
  /** Called for each entry, after it was applied. */
  entry(entry: Entry, isOwn: boolean): void;
  /** The state was loaded at a position, without the entries before it. */
  reset(position: number): void;
}

export class Session {
  readonly view = new View();
  readonly history = new UndoHistory();
  readonly #own = new OwnEntries();
  /** Loaded later. Until then, any cell may be elsewhere after a move. */
  moves: Moves | null = null;
  watcher: EntryWatcher | null = null;
  /** Loaded later. Until then, the edits of others have no name. */
  recent: RecentEdits | null = null;
  readonly #follower: Follower;
  readonly #abort = new AbortController();
  outbox!: Outbox;
  role: Role = "viewer";
  /** Why the spreadsheet is read-only at present. */
  readOnlyReason: string | undefined;
  isOnline = false;
  isOpen = false;
  /** Whether the server has confirmed the state, so that it is not only a stored one. */
  isConfirmed = false;
  /** Whether the server refused to show the spreadsheet. */
  isRefused = false;
  /** Whether the server did not answer the last time. */
  hasFailed = false;
  problem: string | null = null;
  /** Why the server rejected an edit, until the next edit. */
  rejection: string | null = null;
  /** Answered edits and their positions, shown until their entries are read. */
  readonly #answered = new Map<number, number>();
  #mustReload = true;
  #mustReadDetails = true;
  #mustReloadSheets = false;
  #mustRestart = false;
  #mustReport = false;

  constructor(
    readonly api: Api,
    private readonly events: SessionEvents,
    private readFirstDetails?: () => Promise<DetailsReply>,
  ) {
    this.#follower = new Follower(api, this.view.canonical, {
      entry: (entry) => this.#applyEntry(entry),
      // Predictions need all entries after the bases of the pending edits.
      mayReload: () => this.view.pending.length === 0 && this.outbox.queued.length === 0,
    });
  }

  /** Reads what is new. Never throws. */
  async check(): Promise<PollEvent> {
    try {
      const [event] = await Promise.all([this.#mustReload ? this.#reload() : this.#catchUp(), this.#readDetails()]);
      [this.isOnline, this.isRefused, this.hasFailed] = [true, false, false];
      this.problem = null;
      this.events.emit({ kind: "status" });
      return event;
    } catch (error) {
      if (!(error instanceof AbortedError)) this.noteFailure(error);
      return "failed";
    }
  }

  /** Shows cells that were stored earlier, unless the server was faster. They are confirmed later. */
  restore(role: Role, fill: (canonical: CanonicalState) => void): boolean {
    if (this.isOpen || this.isRefused || this.#abort.signal.aborted) return false;
    fill(this.view.canonical);
    this.watcher?.reset(this.view.canonical.position);
    this.role = role;
    this.isOpen = true;
    this.#showAll();
    return true;
  }

  /** The role may have changed, or the spreadsheet may have been archived. */
  expectNewDetails(): void {
    this.#mustReadDetails = true;
  }

  async #readDetails(): Promise<void> {
    // What is archived may be unarchived.
    if (!this.#mustReadDetails && this.readOnlyReason === undefined) return;
    const readGiven = this.readFirstDetails;
    this.readFirstDetails = undefined;
    const readOwn = () => this.api.details(this.#abort.signal);
    const ifTransient = (error: unknown) => (isTransient(error) ? readOwn() : Promise.reject(error));
    const { role, readOnlyReason } = await (readGiven?.().catch(ifTransient) ?? readOwn());
    [this.role, this.readOnlyReason, this.#mustReadDetails] = [role, readOnlyReason, false];
  }

  #showAll(): void {
    this.view.rebuild();
    this.events.emit({ kind: "sheets" });
    this.events.cacheChanged();
  }

  /** Notes a position that the server announced. Returns whether it is news. */
  announce(head: number): boolean {
    this.#follower.announced = head;
    return head > this.view.canonical.position;
  }

  noteFailure(error: unknown): void {
    // A server that answers with a problem is online, but cannot be used as it is.
    this.isOnline = error instanceof ProblemError && !isTransient(error);
    this.problem = this.isOnline || !isTransient(error) ? messageOf(error) : null;
    this.hasFailed = true;
    this.isRefused = error instanceof ProblemError && isRefusal(error);
    if (this.isRefused && this.isOpen && !this.isConfirmed) this.#hideStored();
    this.events.emit({ kind: "status" });
  }

  /** Who lost access must not see the cells of the last opening. */
  #hideStored(): void {
    this.view.canonical.reset({ sheets: [], nextSheet: 1, names: [], position: 0, incarnation: 0 });
    [this.isOpen, this.#mustReload] = [false, true];
    this.#showAll();
  }

  async #catchUp(): Promise<PollEvent> {
    const result = await this.#follow();
    if (result === "reload") return this.#reload();
    if (this.#mustReloadSheets) await this.#reloadSheets();
    return result === "changed" ? "active" : "quiet";
  }

  #follow(): Promise<CatchUp> {
    const before = this.view.canonical.position;
    return this.#follower.catchUp(this.#abort.signal).finally(() => {
      // Once for all entries: each would start loads that the next one makes useless.
      if (this.view.canonical.position !== before) this.events.cacheChanged();
      this.events.edited(this.recent?.take() ?? []);
    });
  }

  async #reload(): Promise<PollEvent> {
    this.#mustReload = true;
    const { canonical } = this.view;
    const reply = await this.api.sheets(undefined, this.#abort.signal);
    const isContinued = await this.#continueStored(reply);
    const wasOpen = this.isOpen;
    if (!isContinued) {
      canonical.reset(reply);
      this.watcher?.reset(reply.position);
    }
    [this.isOpen, this.isConfirmed, this.#mustReload] = [true, true, false];
    // The entries in between were not read, so pending edits cannot be placed any more.
    if (this.#mustRestart || (wasOpen && !isContinued)) await this.#restart();
    this.#showAll();
    if (isContinued && this.#mustReloadSheets) await this.#reloadSheets();
    return "active";
  }

  /** Applies the entries after a stored state, if one is shown. Returns whether it is the newest one then. */
  async #continueStored(reply: SheetsReply): Promise<boolean> {
    const { canonical } = this.view;
    const isStored = this.isOpen && !this.isConfirmed;
    if (!isStored || this.#mustRestart || !this.#mayContinueWith(reply)) return false;
    if (reply.position === canonical.position) {
      canonical.setSheets(reply);
      return true;
    }
    this.#follower.announced = reply.position;
    return (await this.#follow()) !== "reload";
  }

  #mayContinueWith({ position, incarnation }: SheetsReply): boolean {
    const { canonical } = this.view;
    const gap = position - canonical.position;
    if (incarnation !== canonical.incarnation || gap < 0) return false;
    return gap <= MAX_ENTRIES_AFTER_STORED || this.outbox.queued.length > 0;
  }

  /** Continues as a new client. The outbox sets aside edits that the server may have. */
  async #restart(): Promise<void> {
    this.#mustRestart = false;
    const { position, incarnation } = this.view.canonical;
    this.#own.reset();
    this.#answered.clear();
    this.history.reset("The sheet was loaded again; earlier edits cannot be undone here");
    await this.outbox.restart(position, incarnation);
    this.view.replace(this.outbox.queued.map(pendingOf));
  }

  #applyEntry(entry: Entry): boolean {
    const ownership = this.#own.ownershipOf(entry, this.outbox.attempted);
    if (ownership === "unknown") return false;
    const { canonical } = this.view;
    for (const operation of entry.mutations.flatMap(committedOf)) {
      const change = axisChangeOf(operation);
      if (change !== undefined) this.#noteMove(change.sheet, change);
    }
    const effect = canonical.apply(entry);
    this.events.applied(entry);
    this.view.noteEntry(entry, ownership === "own");
    this.recent?.add(entry, ownership === "own");
    this.watcher?.entry(entry, ownership === "own");
    for (const [id, position] of this.#answered) {
      if (position <= entry.position) this.#confirm(id);
    }
    this.view.rebuild();
    if (effect.sheets) {
      this.#mustReloadSheets = true;
      this.events.emit({ kind: "sheets" });
    }
    this.#emitEffect(effect);
    return true;
  }

  #confirm(id: number): void {
    this.#answered.delete(id);
    // Usually its entry has removed it already.
    this.remove(id);
  }

  /** Removes a pending edit from the display. */
  remove(id: number): void {
    const op = this.view.pending.find((edit) => edit.id === id)?.op;
    const change = op && axisChangeOf(op);
    if (change !== undefined) this.#noteMove(change.sheet);
    this.view.remove(id);
  }

  /** Entries that arrive together are reported together: after all of them, and before the next frame. */
  #noteMove(sheet: number, change?: AxisChange): void {
    const { moves } = this;
    if (moves === null) return this.events.moved(sheet, []);
    if (!this.#mustReport) queueMicrotask(() => this.#reportMoves(moves));
    this.#mustReport = true;
    moves.begin(sheet);
    if (change !== undefined) moves.add(change);
  }

  #reportMoves(moves: Moves): void {
    this.#mustReport = false;
    for (const { sheet, shifts } of moves.take()) this.events.moved(sheet, shifts);
  }

  #emitEffect(effect: ReturnType<View["canonical"]["apply"]>): void {
    const hasMoves = this.view.pending.some(({ op }) => "spans" in op || "before" in op);
    // What moved with the entry is reported with the shifts.
    if (hasMoves || effect.cells === null) this.events.emit({ kind: "layout" });
    else for (const { sheet, range } of effect.cells) this.events.cells(sheet, [range]);
  }

  /** Reads names, order and used ranges again, without the cells. */
  async #reloadSheets(): Promise<void> {
    const { canonical } = this.view;
    const reply = await this.api.sheets(canonical.position, this.#abort.signal);
    if (reply.incarnation !== canonical.incarnation || reply.position !== canonical.position) return;
    this.#mustReloadSheets = false;
    canonical.setSheets(reply);
    this.view.rebuild();
    this.events.emit({ kind: "sheets" });
    this.events.cacheChanged();
  }

  /** Handles the answers of the server to own edits. Their entries are read afterwards. */
  answered(results: readonly MutationResult[], step: Step): void {
    this.#own.addAnswers(results);
    const { position: known } = this.view.canonical;
    for (const result of results) {
      if (result.position === undefined || result.position <= known) this.remove(result.id);
      else this.#answered.set(result.id, result.position);
      if (result.rejection !== undefined) this.rejection = result.rejection;
    }
    this.history.answer(results, step);
    this.events.emit({ kind: "status" });
  }

  startOver(): void {
    this.#mustRestart = true;
    this.#mustReload = true;
  }

  close(): void {
    this.#abort.abort();
  }
}

export function pendingOf(edit: StoredEdit) {
  return { id: edit.id, base: edit.base, op: decodeOperation(edit.op) };
}
