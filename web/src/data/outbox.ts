/**
 * The edits of this tab that the server has not answered. Each tab is a client of its own. An edit
 * is stored before it is shown, and sent in the order of the ids, without gaps.
 */

import { messageOf, ProblemError } from "./api-error";
import { jitteredDelayMs } from "./backoff";
import { POLL_MAX_MS } from "./limits";
import { newClientId, type OutboxContext } from "./outbox-context";
import type { SetAsideEdit, Step, StoredClient, StoredEdit } from "./outbox-store";
import { nextBatch, sendBatch, stepAfter } from "./send";
import type { MutationResult } from "./wire";

export class Outbox {
  client = newClientId();
  /** Edits without an answer, oldest first. */
  #queue: StoredEdit[] = [];
  /** Edits that the storage of the browser has not accepted. */
  #unstored: StoredEdit[] = [];
  /** Ends with the last write that has begun. */
  #storing = Promise.resolve();
  /** The write after it, which stores all edits that are made until then. */
  #nextStoring: Promise<void> | null = null;
  #nextId = 1;
  #attemptedId = 0;
  #uncertainId = 0;
  #ackedId = 0;
  /** The answers to the newest gesture. */
  step: Step | undefined;
  #failures = 0;
  #sending: Promise<void> | null = null;
  #isPaused = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #abort = new AbortController();
  /** The state on which this client began, if it is not the first one of the tab. */
  #start = { base: 0, incarnation: 0 };
  sendProblem: string | null = null;
  isMemoryOnly = false;

  constructor(private readonly context: OutboxContext) {}

  get queued(): readonly StoredEdit[] {
    return this.#queue;
  }

  /** The edits that the server may have. */
  get attempted(): readonly StoredEdit[] {
    return this.#queue.filter((edit) => edit.id <= this.#attemptedId);
  }

  get isUnreachable(): boolean {
    return this.#failures > 0;
  }

  /** Numbers an edit, stores it, and calls `show`. It is sent afterwards. */
  async add(op: unknown, base: number, incarnation: number, show: (edit: StoredEdit) => void, group?: string): Promise<void> {
    const createdMs = this.context.now();
    const edit = { client: this.client, id: this.#nextId, base, incarnation, op, createdMs, group };
    this.#nextId += 1;
    this.#unstored.push(edit);
    await this.#storeEdits();
    // The tab became another client while the edit was stored: make it again as that one.
    if (edit.client !== this.client) {
      await this.add(op, this.#start.base, this.#start.incarnation, show, group);
      await this.#tryStore(() => this.context.store.removeEdits(edit.client, [edit.id]));
      return;
    }
    this.#queue.push(edit);
    show(edit);
    void this.flush();
  }

  /** Finds out whether edits can be stored, before the first one. */
  async probe(): Promise<void> {
    this.isMemoryOnly = !(await this.#tryStore(async () => void (await this.context.store.clients())));
    if (this.isMemoryOnly) this.context.events.changed();
  }

  /** Continues as the client of a closed tab, unless this tab has edits. Call `flush` afterwards. */
  continueAs({ client, attemptedId, ackedId, step }: StoredClient, edits: readonly StoredEdit[]): boolean {
    if (this.#nextId > 1) return false;
    [this.client, this.#queue, this.step] = [client, [...edits], step];
    this.#nextId = Math.max(attemptedId, ackedId, ...edits.map(({ id }) => id)) + 1;
    [this.#attemptedId, this.#uncertainId, this.#ackedId] = [attemptedId, attemptedId, ackedId];
    return true;
  }

  /** Removes the newest edits, which were not sent, so that their ids can be used again. Returns whether it did. */
  async remove(edits: readonly StoredEdit[]): Promise<boolean> {
    const firstId = this.#nextId - edits.length;
    if (edits[0]?.id !== firstId || firstId <= this.#attemptedId) return false;
    this.#queue = this.#queue.filter(({ id }) => id < firstId);
    this.#unstored = this.#unstored.filter(({ id }) => id < firstId);
    this.#nextId = firstId;
    await this.#tryStore(() => this.context.store.removeEdits(this.client, edits.map(({ id }) => id)));
    return true;
  }

  /** Sends all edits. Ends early if the server cannot be reached, and tries again later. */
  flush(): Promise<void> {
    if (!this.#canSend) return Promise.resolve();
    this.#sending ??= this.#sendAll();
    return this.#sending;
  }

  get #canSend(): boolean {
    return this.#queue.length > 0 && !this.#isPaused && !this.#abort.signal.aborted;
  }

  async #sendAll(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      while (this.#canSend) {
        if (!(await this.#sendNext())) break;
      }
    } finally {
      this.#sending = null;
      this.context.events.changed();
    }
  }

  /** Returns whether the next batch can be sent at once. */
  async #sendNext(): Promise<boolean> {
    const batch = nextBatch(this.#queue);
    const lastId = batch[batch.length - 1]?.id ?? 0;
    const client = this.client;
    this.#attemptedId = Math.max(this.#attemptedId, lastId);
    await this.#tryStore(() => this.context.store.putClient(this.#clientRecord()));
    const outcome = await sendBatch(this.context.api, batch, this.#ackedId, this.#abort.signal);
    if (this.#abort.signal.aborted) return false;
    // The answer is for an earlier client, whose edits were set aside.
    if (client !== this.client) return true;
    if (outcome.kind === "answered") {
      await this.#settle(lastId, outcome.results, batch[0]?.group);
      return true;
    }
    this.sendProblem = outcome.error instanceof ProblemError ? messageOf(outcome.error) : null;
    if (outcome.kind === "retry") {
      if (outcome.isUncertain) this.#uncertainId = Math.max(this.#uncertainId, lastId);
      else this.#attemptedId = this.#uncertainId;
      this.#retryLater();
    } else {
      const refusedId = outcome.kind === "refused" ? lastId : 0;
      await this.#giveUp(Math.max(this.#uncertainId, refusedId), messageOf(outcome.error));
    }
    return false;
  }

  async #settle(lastId: number, results: readonly MutationResult[], group: string | undefined): Promise<void> {
    this.#failures = 0;
    this.sendProblem = null;
    this.#ackedId = Math.max(this.#ackedId, lastId);
    const ids = this.#queue.filter((edit) => edit.id <= lastId).map((edit) => edit.id);
    this.#queue = this.#queue.filter((edit) => edit.id > lastId);
    this.#unstored = this.#unstored.filter((edit) => edit.id > lastId);
    this.step = stepAfter(this.step, results, group);
    this.context.events.answered(results, this.step);
    // If this fails, another tab sends the edits again, and the server drops them.
    await this.#tryStore(() => this.context.store.removeEdits(this.client, ids));
  }

  #retryLater(): void {
    const BASE_MS = 500;
    this.#failures += 1;
    const delayMs = jitteredDelayMs(this.#failures, BASE_MS, POLL_MAX_MS, this.context.random);
    this.#timer = setTimeout(() => void this.flush(), delayMs + BASE_MS);
  }

  /** Keeps the edits up to `lastId` for the user, and waits for `restart` with the others. */
  async #giveUp(lastId: number, reason: string): Promise<void> {
    this.#isPaused = true;
    this.#attemptedId = lastId;
    await this.#setAside(lastId, reason);
    this.context.events.startOver();
  }

  async #setAside(lastId: number, reason: string): Promise<void> {
    const edits = this.#queue.filter((edit) => edit.id <= lastId);
    const aside: SetAsideEdit[] = edits.map((edit) => ({ ...edit, ...this.context.scope, reason }));
    await this.#tryStore(() => this.context.store.setAside(aside));
    this.#lost.push(...aside);
    this.#queue = this.#queue.filter((edit) => edit.id > lastId);
    this.#unstored = this.#unstored.filter((edit) => edit.id > lastId);
  }

  readonly #lost: SetAsideEdit[] = [];

  /** Edits that were set aside since this tab was opened. */
  get lost(): readonly SetAsideEdit[] {
    return this.#lost;
  }

  /** Makes the remaining edits again as a new client, on the state at `base`. */
  async restart(base: number, incarnation: number): Promise<void> {
    await this.#setAside(this.#attemptedId, "the sheet was loaded again before the edit was answered");
    const [oldClient, oldEdits] = [this.client, this.#queue];
    this.client = newClientId();
    this.#start = { base, incarnation };
    this.context.events.clientChanged(this.client);
    const renumbered = oldEdits.map((edit, index) => ({ ...edit, client: this.client, id: index + 1, base, incarnation }));
    this.#queue = renumbered;
    this.#unstored = [...renumbered];
    this.#nextId = renumbered.length + 1;
    [this.#attemptedId, this.#uncertainId, this.#ackedId, this.#failures] = [0, 0, 0, 0];
    this.#isPaused = false;
    this.sendProblem = null;
    await this.#storeEdits();
    // Removed only after the copies are stored: a crash in between repeats edits, but loses none.
    const ids = oldEdits.map((edit) => edit.id);
    if (!this.isMemoryOnly) await this.#tryStore(() => this.context.store.removeEdits(oldClient, ids));
    void this.flush();
  }

  close(): void {
    this.#abort.abort();
    clearTimeout(this.#timer);
  }

  /** Stores what is not stored yet. A slow disk must not make each edit wait for all before it. */
  #storeEdits(): Promise<void> {
    this.#nextStoring ??= this.#storing.then(() => {
      this.#nextStoring = null;
      return (this.#storing = this.#storeAll());
    });
    return this.#nextStoring;
  }

  /** Stores all edits in one transaction, so that the stored ids have no gap. */
  async #storeAll(): Promise<void> {
    const edits = [...this.#unstored];
    const isStored = await this.#tryStore(() => this.context.store.addEdits(edits, this.#clientRecord()));
    if (isStored) this.#unstored = this.#unstored.filter((edit) => !edits.includes(edit));
    this.isMemoryOnly = !isStored;
    this.context.events.changed();
  }

  async #tryStore(write: () => Promise<void>): Promise<boolean> {
    try {
      await write();
      return true;
    } catch {
      return false;
    }
  }

  #clientRecord(): StoredClient {
    const { client } = this;
    const usedMs = this.context.now();
    return { client, ...this.context.scope, attemptedId: this.#attemptedId, ackedId: this.#ackedId, usedMs, step: this.step };
  }
}
