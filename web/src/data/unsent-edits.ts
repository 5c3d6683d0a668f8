/** The edits that the server does not have for certain, for a download. */

import type { UnsentEdits } from "./open-sheet";
import type { OutboxScope } from "./outbox-context";
import type { OutboxStore, SetAsideEdit } from "./outbox-store";
import type { Source } from "./source";

interface UnsentParts {
  store: OutboxStore;
  scope: OutboxScope;
  source: Source;
}

export async function unsentEditsOf({ store, scope, source }: UnsentParts): Promise<UnsentEdits> {
  const { outbox } = source.session;
  const stored = await store.setAsideEdits().catch((): SetAsideEdit[] => []);
  const isOwn = ({ stack, spreadsheet, identity }: SetAsideEdit) =>
    stack === scope.stack && spreadsheet === scope.spreadsheet && identity === scope.identity;
  const byKey = new Map(outbox.lost.concat(stored.filter(isOwn)).map((edit) => [`${edit.client}:${edit.id}`, edit]));
  return { pending: outbox.queued, setAside: [...byKey.values()] };
}
