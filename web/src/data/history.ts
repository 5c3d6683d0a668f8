/** Which own entries undo and redo refer to. */

import type { Step } from "./outbox-store";
import type { MutationResult } from "./wire";

/** An undo or redo without all answers. */
export interface Reversing {
  /** Where the entries go that it makes. */
  target: Step[];
  note(results: readonly MutationResult[]): void;
  end(message: string): void;
}

export class UndoHistory {
  readonly undoable: Step[] = [];
  readonly redoable: Step[] = [];
  /** By the group of its edits. */
  readonly reversing = new Map<string | undefined, Reversing>();

  /** The user made an edit that is not an undo, after which there is nothing to redo. */
  noteEdit(): void {
    this.redoable.length = 0;
    for (const reversing of this.reversing.values()) {
      if (reversing.target === this.redoable) reversing.target = [];
    }
  }

  /** Adds the answers of own edits. `step` has all answers to their gesture so far. */
  answer(results: readonly MutationResult[], step: Step): void {
    const { group, positions } = step;
    const reversing = this.reversing.get(group);
    const target = reversing?.target ?? this.undoable;
    if (group === undefined) target.push(...positions.map((position) => ({ group, positions: [position] })));
    else {
      if (target[target.length - 1]?.group === group) target.pop();
      if (positions.length > 0) target.push(step);
    }
    reversing?.note(results);
  }

  /** Ends waiting, because the client starts again and its entries cannot be undone any more. */
  reset(message: string): void {
    for (const { end } of this.reversing.values()) end(message);
    this.undoable.length = 0;
    this.redoable.length = 0;
  }
}
