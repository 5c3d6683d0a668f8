/**
 * Pending edits: predicts where the server will put them, given the entries committed since their
 * bases. All functions are pure.
 */

import { isInvalid, type KnownSheets } from "./known-sheets";
import { movesCells, transform, type SpaceMap } from "./space-map";
import { Viewpoint, type Change } from "./viewpoint";
import type { Entry, Mutation, Operation } from "./wire";

export interface PendingEdit {
  readonly id: number;
  /** The position that the user had seen. It never changes. */
  readonly base: number;
  /** In the coordinates that the user saw: those of the base, after the earlier pending edits. */
  readonly op: Operation;
}

export interface PendingEdits {
  readonly edits: readonly PendingEdit[];
  /** The moves of the entries that the prediction needs, oldest first. */
  readonly changes: readonly Change[];
}

export const NO_PENDING: PendingEdits = { edits: [], changes: [] };

export function addEdit(pending: PendingEdits, edit: PendingEdit): PendingEdits {
  return { ...pending, edits: [...pending.edits, edit] };
}

export function removeEdit(pending: PendingEdits, id: number): PendingEdits {
  return { ...pending, edits: pending.edits.filter((edit) => edit.id !== id) };
}

/** Adds the next entry of the log. `isOwn` says whether it has mutations of this client. */
export function applyEntry(pending: PendingEdits, entry: Entry, isOwn: boolean): PendingEdits {
  const lastId = isOwn ? Math.max(0, ...entry.mutations.map((mutation) => mutation.id)) : 0;
  const edits = pending.edits.filter((edit) => edit.id > lastId);
  let changes = pending.changes;
  for (const mutation of entry.mutations) {
    changes = addMutation(changes, entry.position, mutation, isOwn);
  }
  return { edits, changes: neededChanges(edits, changes) };
}

/** Returns the operations that took effect. */
export function committedOf(mutation: Mutation): readonly Operation[] {
  return mutation.committed ?? [mutation.op];
}

function addMutation(
  changes: readonly Change[],
  position: number,
  mutation: Mutation,
  isOwn: boolean,
): readonly Change[] {
  const committed = committedOf(mutation).filter(movesCells);
  const { op: authored } = mutation;
  // The server computes an undo, so its author has not seen the operations.
  if (!isOwn || authored.kind === "undo") {
    return committed.length === 0 ? changes : [...changes, { position, committed }];
  }
  if (!movesCells(authored)) return changes;
  const lastOwn = changes.findLast((change) => change.own !== undefined)?.own;
  const base = Math.max(mutation.base, lastOwn?.base ?? 0);
  return [...changes, { position, committed, own: { base, authored } }];
}

/** Drops the changes before all bases, so that the list does not grow for ever. */
function neededChanges(edits: readonly PendingEdit[], changes: readonly Change[]): readonly Change[] {
  if (edits.length === 0) return [];
  const lowestBase = Math.min(...edits.map((edit) => edit.base));
  const after = new Viewpoint(changes).firstNeeded(lowestBase);
  return changes.filter((change) => change.position > after);
}

export interface Prediction {
  readonly id: number;
  /** In the coordinates after the earlier predictions. Empty if there will be no effect. */
  readonly operations: readonly Operation[];
}

/** Predicts the results of pending edits, one after the other. */
export class Predictor {
  #viewpoint: Viewpoint;
  #lastOwnBase: number;
  /** The map for a further edit with the base of the previous one, which most edits have. */
  #latest: { base: number; map: SpaceMap } | null = null;
  /** The server's position of the pending edits is not known: it is after all that are known. */
  static readonly #PREDICTED_POSITION = Number.MAX_SAFE_INTEGER;

  /** Without `sheets`, edits of sheets that do not exist are predicted like others. */
  constructor(
    changes: readonly Change[],
    private readonly sheets?: KnownSheets,
  ) {
    this.#viewpoint = new Viewpoint(changes);
    this.#lastOwnBase = changes.findLast((change) => change.own !== undefined)?.own?.base ?? 0;
  }

  predict({ id, base, op }: PendingEdit): Prediction {
    const isUnknown = op.kind === "undo" || op.kind === "other" || op.kind === "rejected";
    if (isUnknown || isInvalid(op)) return { id, operations: [] };
    const map = this.#latest?.base === base ? this.#latest.map : this.#viewpoint.mapFrom(base);
    const operations = transform(op, map).filter((operation) => this.sheets?.apply(operation) !== false);
    this.#latest = { base, map };
    if (movesCells(op)) {
      this.#lastOwnBase = Math.max(this.#lastOwnBase, base);
      const own = { base: this.#lastOwnBase, authored: op };
      const committed = operations.filter(movesCells);
      this.#latest = { base, map: map.withOwn(op, committed) };
      this.#viewpoint = this.#viewpoint.with({ position: Predictor.#PREDICTED_POSITION, committed, own });
    }
    return { id, operations };
  }
}

export function predict(pending: PendingEdits, sheets?: KnownSheets): Prediction[] {
  const predictor = new Predictor(pending.changes, sheets);
  return pending.edits.map((edit) => predictor.predict(edit));
}
