/** The edits that the server does not have for certain, for a download. */

import type { UnsentEdits } from "./open-sheet";
import type { OutboxScope } from "./outbox-context";
import type { OutboxStore, SetAsideEdit, StoredClient, StoredEdit } from "./outbox-store";
import type { Source } from "./source";

interface UnsentParts {
  store: OutboxStore;
  scope: OutboxScope;
  source: Source;
}

export async function unsentEditsOf({ store, scope, source }: UnsentParts): Promise<UnsentEdits> {
  const { outbox } = source.session;
  const stored = await store.setAsideEdits().catch((): SetAsideEdit[] => []);
  const isOwn = ({ stack, spreadsheet, identity }: SetAsideEdit | StoredClient) =>
    stack === scope.stack && spreadsheet === scope.spreadsheet && identity === scope.identity;
  const byKey = new Map(outbox.lost.concat(stored.filter(isOwn)).map((edit) => [`${edit.client}:${edit.id}`, edit]));
  const clients = (await store.clients().catch((): StoredClient[] => [])).filter(isOwn);
  const others = clients.filter(({ client }) => client !== outbox.client);
  // A closed tab may have left edits, which another one sends later.
  const ofOthers = await Promise.all(others.map(({ client }) => store.editsOf(client).catch((): StoredEdit[] => [])));
  return { pending: outbox.queued.concat(ofOthers.flat()), setAside: [...byKey.values()] };
}
