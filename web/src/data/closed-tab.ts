/**
 * Continues as the client of a closed tab, so that its edits are shown although the server has not
 * answered. Otherwise, `recovery` sends them later, and they are not shown until then.
 */

import { takeClientLock } from "./client-lock";
import type { OutboxScope } from "./outbox-context";
import type { OutboxStore, StoredClient } from "./outbox-store";
import { pendingOf } from "./session";
import type { Source } from "./source";

interface ClosedTabContext {
  source: Source;
  scope: OutboxScope;
  store: OutboxStore;
  locks: LockManager;
}

/** `held` holds the lock of the client of this tab. */
export async function continueClosedTab(context: ClosedTabContext, held: { release: () => void }): Promise<void> {
  const { store, scope, locks } = context;
  const isSame = ({ stack, spreadsheet, identity }: StoredClient) =>
    stack === scope.stack && spreadsheet === scope.spreadsheet && identity === scope.identity;
  const clients = (await store.clients()).filter(isSame).sort((left, right) => right.usedMs - left.usedMs);
  for (const { client } of clients) {
    const release = await takeClientLock(locks, client);
    if (release === null) continue;
    if (await continueAs(context, client)) {
      held.release();
      held.release = release;
      return;
    }
    release();
  }
}

async function continueAs({ source, store }: ClosedTabContext, client: string): Promise<boolean> {
  const { session } = source;
  // Read with the lock: another tab may have sent some edits meanwhile.
  const record = (await store.clients()).find((found) => found.client === client);
  const edits = await store.editsOf(client);
  const { position, incarnation } = session.view.canonical;
  // Edits on another state could be shown at a wrong place.
  const isOnShown = edits.every((edit) => edit.base === position && edit.incarnation === incarnation);
  if (record === undefined || edits.length === 0 || !isOnShown || session.isConfirmed) return false;
  if (!session.outbox.continueAs(record, edits)) return false;
  session.view.replace(edits.map(pendingOf));
  source.emit({ kind: "layout" });
  source.emit({ kind: "status" });
  void session.outbox.flush();
  return true;
}
