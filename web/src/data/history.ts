/** Which own entries undo and redo refer to, and the messages for the user. */

import type { MutationResult } from "./wire";

export class UndoHistory {
  readonly #undoable: number[] = [];
  readonly #redoable: number[] = [];
  /** By mutation id: what the answer of an edit is for. */
  readonly #waiting = new Map<number, { kind: "undo" | "redo"; finish: (message: string) => void }>();

  nextUndo(): number | undefined {
    return this.#undoable.pop();
  }

  nextRedo(): number | undefined {
    return this.#redoable.pop();
  }

  /** The user made an edit that is not an undo, after which there is nothing to redo. */
  noteEdit(): void {
    this.#redoable.length = 0;
  }

  expect(id: number, kind: "undo" | "redo", finish: (message: string) => void): void {
    this.#waiting.set(id, { kind, finish });
  }

  /** Adds the answer of an own edit. */
  answer({ id, status, position, rejection, reversal }: MutationResult): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    const isNew = position !== undefined && status !== "rejected";
    const target = waiting?.kind === "undo" ? this.#redoable : this.#undoable;
    // One request makes one entry, which is undone as a whole.
    if (isNew && target[target.length - 1] !== position) target.push(position);
    const done = waiting?.kind === "redo" ? "Redid" : "Undid";
    waiting?.finish(rejection ?? `${done} ${countsText(reversal?.restored)}${keptText(reversal?.left)}`);
  }

  /** Ends waiting, because the client starts again and its entries cannot be undone any more. */
  reset(message: string): void {
    for (const { finish } of this.#waiting.values()) finish(message);
    this.#waiting.clear();
    this.#undoable.length = 0;
    this.#redoable.length = 0;
  }
}

function countsText(counts: Record<string, number> | undefined): string {
  const parts = Object.entries(counts ?? {}).filter(([, count]) => count > 0);
  if (parts.length === 0) return "an edit";
  return parts.map(([name, count]) => `${count} ${nameText(name, count)}`).join(", ");
}

function nameText(name: string, count: number): string {
  const text = name.replace("_", " ");
  return count === 1 ? text.replace(/s$/, "") : text;
}

function keptText(counts: Record<string, number> | undefined): string {
  const isAny = Object.values(counts ?? {}).some((count) => count > 0);
  return isAny ? `; ${countsText(counts)} changed since and kept` : "";
}
