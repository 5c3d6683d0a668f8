/** Shows the cells of the last opening until the server answers, and stores those that are shown. */

import { blockRecord, decodeState, fittingBlocks, restoreState, stateRecord, type BlockRecord } from "./kept-cells";
import { CellDatabase } from "./cell-database";
import { UNKNOWN_IDENTITY } from "./identity";
import { MAX_STORED_BYTES_PER_SPREADSHEET } from "./limits";
import type { OutboxScope } from "./outbox-context";
import type { Session } from "./session";
import type { SheetChange } from "./types";

const STORE_DELAY_MS = 300;
/** Edits of others must not rewrite everything again and again. */
const STORE_INTERVAL_MS = 2_000;
const MAX_IDLE_WAIT_MS = 2_000;

export interface KeeperContext {
  session: Session;
  scope: OutboxScope;
  now: () => number;
  subscribe: (listener: (change: SheetChange) => void) => () => void;
}

export class CellKeeper {
  readonly #key: string[];
  readonly #database = new CellDatabase();
  readonly #unsubscribe: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isChanged = false;
  #storedPosition = -1;
  #storedMs = 0;
  #isEnded = false;

  constructor(private readonly context: KeeperContext) {
    const { stack, identity, spreadsheet } = context.scope;
    this.#key = [stack, identity, spreadsheet];
    this.#unsubscribe = context.subscribe((change) => this.#note(change));
    globalThis.document?.addEventListener("visibilitychange", this.#storeIfHidden);
    // Without an identity, another person could see the cells.
    if (identity === UNKNOWN_IDENTITY) this.end();
  }

  /** Shows the stored cells, unless the server was faster. Returns whether it did. */
  async show(): Promise<boolean> {
    if (this.#isEnded) return false;
    try {
      const record = await this.#database.read(this.#key);
      if (record === undefined || this.#isEnded) return false;
      const state = decodeState(record);
      return this.context.session.restore(state.role, (canonical) => restoreState(canonical, state));
    } catch {
      // A damaged record is written again later. Without a database, the next write ends this.
      return false;
    }
  }

  #note({ kind }: SheetChange): void {
    const { session } = this.context;
    if (session.isRefused) return this.#forget();
    const isMoved = session.view.canonical.position !== this.#storedPosition;
    this.#isChanged ||= kind !== "status" || isMoved;
    if (!this.#isChanged || !session.isConfirmed || this.#timer !== undefined || this.#isEnded) return;
    const waitMs = Math.max(STORE_DELAY_MS, this.#storedMs + STORE_INTERVAL_MS - this.context.now());
    this.#timer = setTimeout(() => void this.#storeWhenIdle(), waitMs);
  }

  /** The server refuses to show the spreadsheet, so that its cells must not stay in the browser. */
  #forget(): void {
    if (this.#isEnded) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#storedPosition = -1;
    void this.#database.forget(this.#key).catch(() => undefined);
  }

  readonly #storeIfHidden = () => {
    if (document.visibilityState !== "hidden" || !this.#isChanged || !this.context.session.isConfirmed) return;
    // No paint waits, and the page may end soon.
    const encoding = this.#encoding();
    while (encoding.next().done !== true);
  };

  async #storeWhenIdle(): Promise<void> {
    const encoding = this.#encoding();
    do await idle();
    while (encoding.next().done !== true);
    this.#timer = undefined;
    if (this.#isChanged) this.#note({ kind: "status" });
  }

  /** Encodes one block per step, and then stores all. Ends early if the state changes meanwhile. */
  *#encoding(): Generator<void, void> {
    const { session, now } = this.context;
    const { canonical } = session.view;
    const { position, incarnation } = canonical;
    const isSame = () => canonical.position === position && canonical.incarnation === incarnation;
    const blocks: BlockRecord[] = [];
    let bytes = 0;
    for (const block of canonical.cache.blocks) {
      const record = blockRecord(block);
      bytes += record.cells.length;
      blocks.push(record);
      if (bytes > MAX_STORED_BYTES_PER_SPREADSHEET) break;
      yield;
      if (!isSame() || this.#isEnded) return;
    }
    [this.#isChanged, this.#storedPosition, this.#storedMs] = [false, position, now()];
    const record = stateRecord(this.#key, canonical, session.role, fittingBlocks(blocks));
    this.#database.write(record, now()).catch(() => this.end());
  }

  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    this.#unsubscribe();
    globalThis.document?.removeEventListener("visibilitychange", this.#storeIfHidden);
    this.#database.close();
  }
}

function idle(): Promise<unknown> {
  if (typeof requestIdleCallback === "undefined") return new Promise((resolve) => setTimeout(resolve, 0));
  return new Promise((resolve) => requestIdleCallback(resolve, { timeout: MAX_IDLE_WAIT_MS }));
}
