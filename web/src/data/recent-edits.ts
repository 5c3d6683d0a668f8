/** Which cells the entries that arrived together changed, and who changed them, after all of them. */

import { committedOf } from "./pending";
import { movedRange, rectanglesOf } from "./ranges";
import { axisChangeOf } from "./space-map";
import type { Range } from "./types";
import type { Entry, Operation, Span } from "./wire";

/** After a long time offline, only the newest edits are of interest. */
const MAX_RECENT = 256;

export interface RecentEdit {
  sheet: number;
  range: Range;
  author: string;
}

export class RecentEdits {
  #edits: RecentEdit[] = [];

  /** Adds the next entry. The edits of this client move the others, but are not listed. */
  add(entry: Entry, isOwn: boolean): void {
    for (const operation of entry.mutations.flatMap(committedOf)) {
      const change = axisChangeOf(operation);
      if (change !== undefined) {
        const { sheet, axis, map } = change;
        this.#edits = this.#edits.flatMap((edit) =>
          edit.sheet === sheet ? movedRange(edit.range, axis, map).map((range) => ({ ...edit, range })) : [edit],
        );
      } else if (!isOwn && entry.author !== undefined && "sheet" in operation) {
        const { sheet } = operation;
        for (const range of changedRanges(operation)) this.#edits.push({ sheet, range, author: entry.author });
      }
    }
    this.#edits = this.#edits.slice(-MAX_RECENT);
  }

  /** Returns the edits since the last call. */
  take(): RecentEdit[] {
    return this.#edits.splice(0);
  }
}

function changedRanges(operation: Operation): Range[] {
  if (operation.kind === "setCells") return rectanglesOf(operation.cells);
  if (operation.kind !== "clearRange") return [];
  const [rows, columns] = [around(operation.rows), around(operation.columns)];
  return [{ firstRow: rows.first, rowCount: rows.count, firstColumn: columns.first, columnCount: columns.count }];
}

function around(spans: readonly Span[]): Span {
  const [first, last] = [spans[0]?.first ?? 0, spans[spans.length - 1]];
  return { first, count: (last?.first ?? 0) + (last?.count ?? 0) - first };
}
