/** Opens a spreadsheet: reads, edits and follows it, online and offline. */

import { Api, type At } from "./api";
import type { Random } from "./backoff";
import { holdClientLock } from "./client-lock";
import { identityOf } from "./identity";
import { laterParts } from "./later";
import { RECOVERY_INTERVAL_MS } from "./limits";
import type { FirstCell } from "./loader";
import { BROWSER_HINTS, LiveUpdates, type HintSource } from "./live";
import { Outbox } from "./outbox";
import type { OutboxEvents, OutboxScope } from "./outbox-context";
import { IndexedDbStore, type OutboxStore, type SetAsideEdit, type StoredEdit } from "./outbox-store";
import { Session } from "./session";
import { sheetInterface } from "./sheet-interface";
import { Source } from "./source";
import type { SheetSource } from "./types";
import type { DetailsReply } from "./wire";

export interface OpenOptions {
  /** URL of the stack, such as `https://example.com`. */
  url: string;
  spreadsheet: string;
  /** Returns the bearer token: of the user, or of a share link (`cellar-link.…`). */
  getToken: () => string | Promise<string>;
  /** Names the user. By default, it is read from the token. Must not be a secret. */
  identity?: string;
  fetch?: typeof fetch;
  /** Opens the state at an earlier position or time, such as `0.42` or `2026-11-24T00:14Z`, read-only. */
  at?: At;
  /** Whether the last cells are stored in the browser, and shown at the next opening until the server answers. True by default. */
  keepsCells?: boolean;
  /** Where the worker of the package is served that reads large sheets. By default, `chunk-worker.js` beside this module. */
  chunkWorkerUrl?: string | URL;
  /** The cell that is shown first. The cells around it are read together with the list of sheets. */
  firstCell?: FirstCell;
  /** Returns the details, if the caller reads them anyway. They are read by this layer when they may have changed. */
  readDetails?: () => Promise<DetailsReply>;
  store?: OutboxStore;
  hints?: readonly HintSource[];
  random?: Random;
  now?: () => number;
}

export interface UnsentEdits {
  /** Edits of this tab, and those that other tabs of the same user have stored. */
  pending: readonly StoredEdit[];
  /** Edits that may have been made, but cannot be sent again. */
  setAside: readonly SetAsideEdit[];
}

export interface OpenedSheet extends SheetSource {
  /** Returns the edits that the server does not have for certain, for a download as JSON. */
  unsentEdits(): Promise<UnsentEdits>;
  /** Checks for news and sends the edits that wait, now. */
  refresh(): void;
}

interface Parts {
  api: Api;
  store: OutboxStore;
  scope: OutboxScope;
  random: Random;
  now: () => number;
  source: Source;
  live: LiveUpdates;
}

interface HeldLock {
  release: () => void;
}

/** Creates the outbox and holds the lock of its client. */
function startOutbox({ api, store, scope, random, now, source, live }: Parts): HeldLock {
  const locks = lockManager();
  const held: HeldLock = { release: () => undefined };
  const holdLock = (client: string) => {
    held.release();
    held.release = holdClientLock(locks, client);
  };
  const { session } = source;
  const events: OutboxEvents = {
    answered(results, step) {
      session.answered(results, step);
      live.wake();
    },
    startOver() {
      session.startOver();
      live.wake();
    },
    clientChanged: holdLock,
    changed() {
      // A refused edit may mean that the spreadsheet was archived, or that the role changed.
      if (session.outbox.sendProblem !== null) session.expectNewDetails();
      source.emit({ kind: "status" });
    },
  };
  session.outbox = new Outbox({ api, store, scope, random, now, events });
  holdLock(session.outbox.client);
  void session.outbox.probe();
  return held;
}

/** Shows the cells of the last opening if the server has not answered yet. Returns whether it did, and a function that ends to store them. */
async function startKeeper(parts: Parts, held: HeldLock): Promise<{ isShown: boolean; end: () => void }> {
  const { source, scope, now, store } = parts;
  const { CellKeeper, continueClosedTab } = await laterParts();
  const keeper = new CellKeeper({ session: source.session, scope, now, subscribe: source.subscribe });
  const isShown = await keeper.show();
  const locks = lockManager();
  if (isShown && locks !== undefined) await continueClosedTab({ source, scope, store, locks }, held).catch(() => undefined);
  return { isShown, end: () => keeper.end() };
}

/** Sends the edits of closed tabs, now and from time to time. Returns a function that ends it. */
function startRecovery({ api, store, scope, now, source }: Parts): () => void {
  const context = { api, store, scope, now, locks: lockManager(), adopt: ({ op, group }: StoredEdit) => source.addJson(op, group) };
  const recover = () => {
    // Without storage there is nothing to recover.
    laterParts()
      .then(({ recoverAbandoned }) => recoverAbandoned(context, source.session.outbox.client))
      .catch(() => undefined);
  };
  recover();
  const timer = setInterval(recover, RECOVERY_INTERVAL_MS);
  // The edits of a page that was reloaded offline wait for the network only.
  const endHints = BROWSER_HINTS.start(recover);
  return () => {
    clearInterval(timer);
    endHints();
  };
}

/** Without the parts that follow the stream, the source polls. */
function pokesOf(api: Api, random: Random, announce: (head: number) => boolean): HintSource {
  return {
    start(hint) {
      let isEnded = false;
      let end: () => void = () => undefined;
      laterParts().then(
        ({ PokeStream }) => {
          if (!isEnded) end = new PokeStream(api, random, announce).start(hint);
        },
        () => undefined,
      );
      return () => {
        isEnded = true;
        end();
      };
    },
  };
}

/** Web Locks exist in secure contexts only. */
function lockManager(): LockManager | undefined {
  return (globalThis.navigator as Navigator | undefined)?.locks;
}

/**
 * Opens a spreadsheet. Resolves after the first attempt to load it, also if that fails: `status`
 * then has the problem, and further attempts follow.
 */
export async function openSheet(options: OpenOptions): Promise<OpenedSheet> {
  const { random = Math.random, now = Date.now, url: stack, spreadsheet } = options;
  const api = new Api(options);
  if (options.at !== undefined) return (await laterParts()).openPastSheet(api, options.at, random);
  const store = options.store ?? new IndexedDbStore("cellar-outbox");
  const identity = options.identity ?? (await identityOf(options.getToken));
  const scope: OutboxScope = { stack, spreadsheet, identity };
  const { chunkWorkerUrl } = options;
  const source = new Source({ api, random, now, chunkWorkerUrl, makeSession: (events) => new Session(api, events, options.readDetails) });
  const { session } = source;
  const pokes = pokesOf(api, random, (head) => session.announce(head));
  const live = new LiveUpdates(() => session.check(), random, options.hints ?? [BROWSER_HINTS, pokes]);
  source.live = live;
  const parts: Parts = { api, store, scope, random, now, source, live };
  const held = startOutbox(parts);
  if (options.firstCell !== undefined) source.readAhead(options.firstCell);
  const started = live.start();
  const following = laterParts().then(({ followOthers }) => followOthers(parts)).catch(() => null);
  const keeper = options.keepsCells === false ? null : startKeeper(parts, held).catch(() => null);
  const shown = keeper?.then((kept) => (kept?.isShown === true ? undefined : started));
  await Promise.race(shown === undefined ? [started] : [started, shown]);
  const endRecovery = startRecovery(parts);
  const end = () => {
    endRecovery();
    void following.then((presence) => presence?.close());
    void keeper?.then((kept) => kept?.end());
    source.close();
    live.close();
    session.outbox.close();
    session.close();
    held.release();
    // A store that the caller passed may be in use elsewhere.
    if (options.store === undefined) store.close();
  };
  const { outbox } = session;
  const unsentEdits = () =>
    laterParts().then(
      ({ unsentEditsOf }) => unsentEditsOf(parts),
      () => ({ pending: outbox.queued, setAside: outbox.lost }),
    );
  return sheetInterface(source, { unsentEdits, end });
}
