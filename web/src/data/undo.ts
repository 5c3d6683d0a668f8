/** Undo and redo of own edits. The server computes them, from the log. */

import { sleep } from "./backoff";
import { newClientId } from "./outbox-context";
import type { Outbox } from "./outbox";
import type { Step, StoredEdit } from "./outbox-store";
import { reversalText, type Verb } from "./reversal-text";
import { sendsAlone } from "./send";
import type { Source } from "./source";
import type { MutationResult } from "./wire";

const ANSWER_WAIT_MS = 10_000;

/** Undoes the newest own gesture: one that was not sent is removed, another one undone by the log. */
export async function undoLast(source: Source): Promise<string> {
  const { session } = source;
  await source.stored;
  const removed = unsentGesture(session.outbox);
  if (await session.outbox.remove(removed)) {
    for (const { id } of removed) session.remove(id);
    source.emit({ kind: "layout" });
    source.emit({ kind: "status" });
    return "Removed an edit that was not sent yet";
  }
  return reverseNewest(source, "undo");
}

/** Returns the edits of the newest gesture. Empty if a part of it was answered, or if it is an undo. */
function unsentGesture({ queued, step }: Outbox): readonly StoredEdit[] {
  const newest = queued[queued.length - 1];
  if (newest === undefined || sendsAlone(newest)) return [];
  const { group } = newest;
  if (group === undefined) return [newest];
  return group === step?.group ? [] : queued.filter((edit) => edit.group === group);
}

/** Redoes the newest undo. */
export async function redoLast(source: Source): Promise<string> {
  await source.stored;
  return reverseNewest(source, "redo");
}

async function reverseNewest(source: Source, verb: Verb): Promise<string> {
  const { history, outbox } = source.session;
  // A gesture is undone as a whole, after all its edits were answered.
  await Promise.race([outbox.flush(), sleep(ANSWER_WAIT_MS)]);
  if (outbox.queued.length > 0) return `The last edit is being sent; ${verb} it when the server has answered`;
  const step = (verb === "undo" ? history.undoable : history.redoable).pop();
  return step === undefined ? `There is nothing to ${verb}` : reverse(source, step, verb);
}

function reverse(source: Source, step: Step, verb: Verb): Promise<string> {
  const { history } = source.session;
  const [from, target] = verb === "undo" ? [history.undoable, history.redoable] : [history.redoable, history.undoable];
  const group = newClientId();
  const answers: MutationResult[] = [];
  return new Promise((resolve) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => resolve(`The ${verb} waits for the server`), ANSWER_WAIT_MS);
    };
    const end = (message: string) => {
      clearTimeout(timer);
      history.reversing.delete(group);
      resolve(message);
    };
    const note = (results: readonly MutationResult[]) => {
      answers.push(...results);
      if (answers.length < step.positions.length) wait();
      else end(reversalText(verb, answers));
    };
    history.reversing.set(group, { target, note, end });
    wait();
    const undos = [...step.positions].reverse().map((position) => ({ kind: "undo" as const, position }));
    if (source.editAll(undos, group)) return;
    from.push(step);
    end(source.status.problem ?? `The ${verb} was refused`);
  });
}
