/** Undo and redo of own edits. The server computes them, from the log. */

import { sleep } from "./backoff";
import type { Source } from "./source";

const ANSWER_WAIT_MS = 10_000;
const WAITING = "The undo waits for the server";

/** Undoes the newest own edit: one that was not sent is removed, another one undone by the log. */
export async function undoLast(source: Source): Promise<string> {
  const { session } = source;
  await source.stored;
  const removed = await session.outbox.removeNewest();
  if (removed !== undefined) {
    session.remove(removed.id);
    source.emit({ kind: "layout" });
    source.emit({ kind: "status" });
    return "Removed an edit that was not sent yet";
  }
  await Promise.race([session.outbox.flush(), sleep(ANSWER_WAIT_MS)]);
  if (session.outbox.queued.length > 0) return "The last edit is being sent; undo it when the server has answered";
  const position = session.history.nextUndo();
  if (position === undefined) return "There is nothing to undo";
  return reverse(source, position, "undo");
}

/** Undoes the newest undo. */
export async function redoLast(source: Source): Promise<string> {
  const position = source.session.history.nextRedo();
  if (position === undefined) return "There is nothing to redo";
  return reverse(source, position, "redo");
}

function reverse(source: Source, position: number, kind: "undo" | "redo"): Promise<string> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(WAITING), ANSWER_WAIT_MS);
    const finish = (message: string) => {
      clearTimeout(timer);
      resolve(message);
    };
    const { history, outbox } = source.session;
    history.expect(outbox.nextId, kind, finish);
    source.edit({ kind: "undo", position });
  });
}
