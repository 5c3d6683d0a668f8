/** Sends the edits that tabs left behind when they were closed or crashed. */

import type { Api } from "./api";
import { messageOf } from "./api-error";
import { lockName } from "./client-lock";
import { ABANDONED_AFTER_MS } from "./limits";
import type { OutboxScope } from "./outbox-context";
import type { OutboxStore, StoredClient, StoredEdit } from "./outbox-store";
import { nextBatch, sendBatch } from "./send";

export interface RecoveryContext {
  api: Api;
  store: OutboxStore;
  scope: OutboxScope;
  now: () => number;
  locks: LockManager | undefined;
  /** Makes an edit again that was certainly not made, because its base was lost. */
  adopt: (edit: StoredEdit) => Promise<void>;
}

/** Sends the edits of all abandoned clients of the same user. Returns how many were sent. */
export async function recoverAbandoned(context: RecoveryContext, ownClient: string): Promise<number> {
  const { stack, spreadsheet, identity } = context.scope;
  const isSame = (client: StoredClient) =>
    client.stack === stack && client.spreadsheet === spreadsheet && client.identity === identity;
  let sent = 0;
  for (const client of await context.store.clients()) {
    if (client.client === ownClient || !isSame(client)) continue;
    sent += await withAbandonedClient(context, client, () => sendAll(context, client));
  }
  return sent;
}

/**
 * Runs `work` if the tab of the client is gone. Without Web Locks, a client that was not used for a
 * while counts as gone; if it is not, the server drops the repeated edits.
 */
async function withAbandonedClient(
  { locks, now }: RecoveryContext,
  client: StoredClient,
  work: () => Promise<number>,
): Promise<number> {
  if (locks === undefined) return now() - client.usedMs > ABANDONED_AFTER_MS ? work() : 0;
  const options = { ifAvailable: true };
  return locks.request(lockName(client.client), options, async (lock) => (lock === null ? 0 : work()));
}

async function sendAll(context: RecoveryContext, client: StoredClient): Promise<number> {
  const { api, store } = context;
  let { ackedId, attemptedId } = client;
  let sent = 0;
  for (;;) {
    const edits = await store.editsOf(client.client);
    const batch = nextBatch(edits);
    const lastId = batch[batch.length - 1]?.id;
    if (lastId === undefined) {
      await store.removeClient(client.client);
      return sent;
    }
    const isRepeated = (batch[0]?.id ?? 0) <= attemptedId;
    await store.putClient({ ...client, ackedId, attemptedId: Math.max(attemptedId, lastId) });
    const outcome = await sendBatch(api, batch, ackedId);
    if (outcome.kind === "retry") return sent;
    if (outcome.kind !== "answered") {
      const uncertainId = outcome.kind === "refused" ? lastId : isRepeated ? attemptedId : 0;
      await giveUp(context, edits, uncertainId, messageOf(outcome.error));
      continue;
    }
    [ackedId, attemptedId] = [lastId, Math.max(attemptedId, lastId)];
    sent += batch.length;
    await store.removeEdits(client.client, batch.map((edit) => edit.id));
  }
}

/** Sets aside what may have been made, and makes the other edits again. */
async function giveUp(
  { store, scope, adopt }: RecoveryContext,
  edits: readonly StoredEdit[],
  uncertainId: number,
  reason: string,
): Promise<void> {
  const uncertain = edits.filter((edit) => edit.id <= uncertainId);
  await store.setAside(uncertain.map((edit) => ({ ...edit, ...scope, reason })));
  for (const edit of edits.filter((candidate) => candidate.id > uncertainId)) {
    await adopt(edit);
    await store.removeEdits(edit.client, [edit.id]);
  }
}
