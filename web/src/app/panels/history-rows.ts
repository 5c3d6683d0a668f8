/** The rows of the history: entries with their descriptions, and their groups. */

import { positionText } from "../../data/position";
import { describeEntry, isShownInHistory, SheetNames, whyNotUndoable } from "../../stack/describe";
import { readHistory, readSheets } from "../../stack/history";
import type { StackClient } from "../../stack/http";
import type { HistoryEntry } from "../../stack/types";
import { dayKey } from "../times";

export interface HistoryRow {
  position: number;
  createdS: number;
  author: string;
  text: string;
  /** Absent if the entry can be undone. */
  whyNotUndoable?: string;
  /** Who merged the edit, and from where. */
  mergedText?: string;
}

export interface RowsPage {
  /** Newest first. */
  rows: HistoryRow[];
  next?: number;
}

export async function loadRows(
  stack: StackClient,
  id: string,
  query: { until?: number | undefined; limit: number; signal?: AbortSignal | undefined },
): Promise<RowsPage> {
  const { entries, next } = await readHistory(stack, id, query);
  const names = await namesBefore(stack, id, entries, query.signal);
  const rows = [...entries].reverse().map((entry) => rowOf(entry, names));
  const shown = rows.filter((row): row is HistoryRow => row !== null).reverse();
  return next === undefined ? { rows: shown } : { rows: shown, next };
}

/** Returns no names if they cannot be read: descriptions then have the numbers of sheets. */
async function namesBefore(
  stack: StackClient,
  id: string,
  entries: readonly HistoryEntry[],
  signal: AbortSignal | undefined,
): Promise<SheetNames> {
  const oldest = entries.at(-1)?.position;
  if (oldest === undefined) return new SheetNames();
  if (oldest === 0) return new SheetNames([{ sheet: 0, name: "Sheet1" }]);
  const [, number] = positionText(oldest).split(".");
  const before = number === "0" ? oldest : oldest - 1;
  try {
    return new SheetNames((await readSheets(stack, id, before, signal)).sheets);
  } catch {
    return new SheetNames();
  }
}

function rowOf(entry: HistoryEntry, names: SheetNames): HistoryRow | null {
  // Described even if it is not shown, because this updates the names.
  const text = describeEntry(entry, names);
  if (!isShownInHistory(entry)) return null;
  const { position, createdS, author = "unknown", merged } = entry;
  const why = whyNotUndoable(entry);
  const from = merged === undefined ? undefined : `merged by ${merged.by ?? "unknown"} from a fork`;
  return {
    position,
    createdS,
    author,
    text,
    ...(why === undefined ? {} : { whyNotUndoable: why }),
    ...(from === undefined ? {} : { mergedText: from }),
  };
}

export interface RowGroup {
  day: string;
  author: string;
  rows: HistoryRow[];
}

/** Groups neighbors of one day and author. */
export function groupRows(rows: readonly HistoryRow[]): RowGroup[] {
  const groups: RowGroup[] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    const day = dayKey(row.createdS);
    if (last?.day === day && last.author === row.author) last.rows.push(row);
    else groups.push({ day, author: row.author, rows: [row] });
  }
  return groups;
}

/** Adds rows that are newer than the known ones. Returns null if rows between them are missing. */
export function withNewer(known: readonly HistoryRow[], page: RowsPage): HistoryRow[] | null {
  const newest = known[0]?.position ?? -1;
  const newer = page.rows.filter((row) => row.position > newest);
  const isGap = page.next !== undefined && newer.length === page.rows.length && known.length > 0;
  return isGap ? null : newer.concat(known);
}
