/** The interface that a view of the spreadsheet uses. */

import type { Api } from "./api";
import type { Random } from "./backoff";
import { boundsOf } from "./ranges";
import { decodeOperation } from "./decode-operation";
import { IN_MEMORY_ONLY, LOST_EDITS } from "./edit-problems";
import { cellsOperations, deletion, insertion } from "./edits";
import { withoutAbsent } from "./decode";
import { LOADS_BEFORE_CHUNKS, MAX_COLUMNS, MAX_PENDING_EDITS, MAX_ROWS, MIN_CELLS_FOR_CHUNKS } from "./limits";
import { laterParts } from "./later";
import { Listeners } from "./listeners";
import type { LiveUpdates } from "./live";
import { Loader, type FirstCell } from "./loader";
import { newClientId } from "./outbox-context";
import { positionText } from "./position";
import type { Presence } from "./presence";
import type { RecentEdit } from "./recent-edits";
import { pendingOf, type Session, type SessionEvents } from "./session";
import { SpaceMap, transform } from "./space-map";
import { changesTabs } from "./tabs";
import { whenTextsChange } from "./text";
import type { CellInput, CellTrace, Extent, Range, SheetChange, SheetInfo, SheetRange, SheetStatus } from "./types";
import { clampRange, sourceRange, wantedBlocks } from "./window";
import { operationToJson, type Operation } from "./wire";

interface SourceOptions {
  api: Api;
  random: Random;
  now: () => number;
  chunkWorkerUrl: string | URL | undefined;
  makeSession: (events: SessionEvents) => Session;
}

export class Source {
  readonly session: Session;
  live!: LiveUpdates;
  /** Loaded later. */
  presence: Presence | null = null;
  /** What the user has selected, as the view reports it. */
  selection: SheetRange | null = null;
  readonly #loader: Loader;
  readonly #endTexts: () => void;
  readonly #listeners = new Listeners();
  readonly emit = this.#listeners.emit.bind(this.#listeners);
  readonly subscribe = this.#listeners.subscribe.bind(this.#listeners);
  /** A sheet that this client adds may get another number. */
  #selected: { sheet?: number; addedBy?: number | undefined } = {};
  #range: Range | null = null;
  #loads = 0;
  /** Edits that are being stored, so that the user does not see them yet. */
  #unshown: Operation[] = [];
  #inputProblem: string | null = null;
  /** Resolves when the edits that the user has made are stored and shown. */
  stored: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: SourceOptions) {
    this.session = options.makeSession({
      emit: this.emit,
      cells: (sheet, ranges) => this.#emitCells(sheet, ranges),
      applied: (entry) => this.#loader.source?.note(entry),
      edited: (edits) => this.#emitEdits(edits),
      moved: (sheet, shifts) => {
        if (sheet !== this.sheet) return;
        if (shifts.length === 0) this.emit({ kind: "layout" });
        for (const shift of shifts) this.emit({ kind: "layout", ...shift });
      },
      cacheChanged: () => this.#reload(),
    });
    const events = {
      loaded: (sheet: number, range: Range, hasNewExtent: boolean) => {
        this.#noteLoad(sheet);
        if (hasNewExtent) this.session.view.rebuild();
        if (hasNewExtent) this.emit({ kind: "sheets" });
        // Pending inserts and deletes display the range elsewhere.
        const isMoved = this.session.view.pending.some(({ op }) => op.kind !== "setCells");
        if (!isMoved) this.#emitCells(sheet, [range]);
        else if (sheet === this.sheet) this.emit({ kind: "layout" });
      },
      failed: (error: unknown) => {
        this.session.noteFailure(error);
        // The sheet may have been renamed or deleted.
        this.live.wake();
      },
    };
    this.#endTexts = whenTextsChange(() => {
      this.session.view.canonical.cache.updateTexts();
      this.emit({ kind: "cells", ranges: [{ firstRow: 0, rowCount: MAX_ROWS, firstColumn: 0, columnCount: MAX_COLUMNS }] });
    });
    this.#loader = new Loader(options.api, this.session.view.canonical, events, options.random);
  }

  get sheets(): SheetInfo[] {
    return this.session.view.sheets;
  }

  /** Traces a cell at the newest position. A sheet that only this client knows has no formulas of others. */
  async trace(row: number, column: number): Promise<CellTrace> {
    const info = this.session.view.canonical.info(this.sheet);
    if (info === undefined) return { precedents: [], dependents: [] };
    return (await laterParts()).traceCell(this.session.api, info.name, row, column);
  }

  /** Number for a new sheet. */
  get nextSheet(): number {
    const isAddition = ({ kind }: Operation) => kind === "addSheet";
    const shown = this.session.view.pending.filter(({ op }) => isAddition(op));
    return this.session.view.canonical.nextSheet + shown.length + this.#unshown.filter(isAddition).length;
  }

  get sheet(): number {
    const { sheets } = this;
    const { sheet, addedBy } = this.#selected;
    const selected = addedBy === undefined ? sheet : this.session.view.sheetAddedBy(addedBy);
    return sheets.some((info) => info.sheet === selected) ? selected ?? 0 : (sheets[0]?.sheet ?? 0);
  }

  get extent(): Extent {
    return this.session.view.extent(this.sheet);
  }

  get status(): SheetStatus {
    const { session } = this;
    const { outbox, view } = session;
    const pending = Math.max(view.pending.length, outbox.queued.length) + this.#unshown.length;
    const oldest = outbox.queued[0];
    const lost = outbox.lost.length > 0 ? LOST_EDITS : null;
    const problem = this.#inputProblem ?? session.rejection ?? session.problem ?? outbox.sendProblem ?? lost;
    const isConnecting = session.isOpen && !session.isConfirmed && !session.hasFailed;
    return withoutAbsent<SheetStatus>({
      position: positionText(view.canonical.position),
      pending,
      oldestPendingMs: oldest === undefined ? null : Math.max(0, this.options.now() - oldest.createdMs),
      isOnline: session.isOnline && !outbox.isUnreachable,
      role: session.role,
      isConnecting: isConnecting || undefined,
      isMemoryOnly: outbox.isMemoryOnly || undefined,
      readOnlyReason: session.readOnlyReason,
      problem: problem ?? (outbox.isMemoryOnly && pending > 0 ? IN_MEMORY_ONLY : null),
    });
  }

  /** Reports each author once. */
  #emitEdits(edits: readonly RecentEdit[]): void {
    const { sheet } = this;
    const shown = edits.filter((edit) => edit.sheet === sheet);
    for (const author of new Set(shown.map((edit) => edit.author))) {
      const own = shown.filter((edit) => edit.author === author);
      this.#emitCells(sheet, own.flatMap(({ range }) => this.session.view.shownRanges(sheet, range)), author);
    }
  }

  #emitCells(sheet: number, ranges: Range[], author?: string): void {
    if (sheet === this.sheet && ranges.length > 0) this.emit(withoutAbsent<SheetChange>({ kind: "cells", ranges, author }));
  }

  /** Checks for news and sends the edits that wait, now. */
  refresh(): void {
    this.session.expectNewDetails();
    void this.session.outbox.flush();
    this.live.wake();
  }

  close(): void {
    this.#endTexts();
    this.#loader.close();
    this.#listeners.clear();
  }

  selectSheet(sheet: number): void {
    this.#selected = { sheet, addedBy: this.session.view.additionOf(sheet) };
    this.#range = null;
    this.emit({ kind: "layout" });
  }

  request(range: Range): void {
    const previous = this.#range;
    this.#range = clampRange(range);
    this.#load(previous);
  }

  /** Begins to read the cells that are requested first, before the sheets are known. */
  readAhead(cell: FirstCell): void {
    this.#loader.readAhead(cell);
  }

  /** The first windows come from the server, the later ones of a large sheet from its chunks. */
  #noteLoad(sheet: number): void {
    const { rows = 0, columns = 0 } = this.session.view.canonical.info(sheet)?.extent ?? {};
    if (rows * columns < MIN_CELLS_FOR_CHUNKS || (this.#loads += 1) !== LOADS_BEFORE_CHUNKS) return;
    import("./chunk-worker").then(
      ({ chunkWindowsOf }) => (this.#loader.source = chunkWindowsOf(this.session, this.options.now, this.options.chunkWorkerUrl)),
      () => undefined,
    );
  }

  #reload(): void {
    if (this.#range !== null) this.#load(null);
  }

  #load(previous: Range | null): void {
    // What a stored state does not have is loaded when the server has confirmed the state.
    if (!this.session.isConfirmed && this.session.isOpen) return;
    const { sheet } = this;
    const shown = this.#range ?? clampRange(boundsOf([]));
    const range = sourceRange(shown, (row, column) => this.session.view.source(sheet, row, column));
    this.#loader.want(wantedBlocks(sheet, range, previous));
  }

  setCells(inputs: readonly CellInput[]): void {
    this.editAll(cellsOperations(this.sheet, inputs));
  }

  insert(kind: "insertRows" | "insertColumns", before: number, count: number): void {
    this.editAll(insertion(kind, this.sheet, before, count));
  }

  delete(kind: "deleteRows" | "deleteColumns", first: number, count: number): void {
    this.editAll(deletion(kind, this.sheet, first, count));
  }

  /** Makes the edits of one gesture, or none of them. Returns whether it did. */
  editAll(operations: readonly Operation[] | string, group?: string): boolean {
    const problem = typeof operations === "string" ? operations : this.#whyNot(operations.length);
    this.#inputProblem = problem;
    this.emit({ kind: "status" });
    if (problem !== null || typeof operations === "string") return false;
    this.session.rejection = null;
    const name = group ?? (operations.length > 1 ? newClientId() : undefined);
    for (const operation of operations) this.#edit(operation, name);
    return true;
  }

  /** Returns why a number of edits cannot be made. */
  #whyNot(count: number): string | null {
    const { isOpen, readOnlyReason, role, view } = this.session;
    if (!isOpen) return "The spreadsheet is not loaded yet";
    if (readOnlyReason !== undefined) return readOnlyReason;
    if (role === "viewer") return "You can view this spreadsheet but not change it";
    if (view.pending.length + this.#unshown.length + count <= MAX_PENDING_EDITS) return null;
    return `${MAX_PENDING_EDITS} edits wait for the server; try again when it responds`;
  }

  #edit(operation: Operation, group: string | undefined): void {
    // The user did not see the edits that are being stored, but the server applies them first.
    const [seen] = transform(operation, SpaceMap.IDENTITY.withForeign(this.#unshown));
    if (seen === undefined) return;
    if (operation.kind !== "undo") this.session.history.noteEdit();
    this.stored = this.#store(seen, operationToJson(seen), group);
  }

  /** Makes an edit again that another tab left behind. */
  async addJson(op: unknown, group?: string): Promise<void> {
    await this.#store(decodeOperation(op), op, group);
  }

  async #store(operation: Operation, op: unknown, group?: string): Promise<void> {
    const { outbox, view } = this.session;
    this.#unshown = [...this.#unshown, operation];
    const forget = () => {
      this.#unshown = this.#unshown.filter((other) => other !== operation);
    };
    await outbox.add(op, view.canonical.position, view.canonical.incarnation, (stored) => {
      forget();
      const moves = view.add(pendingOf(stored));
      if (changesTabs(operation)) this.emit({ kind: "sheets" });
      if (moves || operation.kind !== "setCells") this.emit({ kind: "layout" });
      else this.emit({ kind: "cells", ranges: [boundsOf(operation.cells)] });
      this.emit({ kind: "status" });
      this.live.noteEdit();
    }, group);
    forget();
  }
}
