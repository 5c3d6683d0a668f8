/** The history of a spreadsheet and of its cells, and the differences between two states. */

import { MalformedReply } from "../data/decode";
import { loadFormatter } from "../data/text";
import { cellHistoryPageOf, diffPageOf, historyPageOf, sheetsAtOf } from "./decode-cells";
import { spreadsheetPath, type StackClient } from "./http";
import { sendRepeatedly } from "./repeat";
import type { CellHistoryPage, DiffPage, HistoryPage, PositionOrTime, SheetDiff, SheetsAt } from "./types";

export interface HistoryQuery {
  /** Newest position to return. */
  until?: PositionOrTime | undefined;
  limit?: number;
  signal?: AbortSignal | undefined;
}

/** Lists entries, newest first. Their descriptions need the number formats. */
export async function readHistory(stack: StackClient, id: string, query: HistoryQuery = {}): Promise<HistoryPage> {
  const { signal, ...parameters } = query;
  const path = spreadsheetPath(id, "/history");
  const [page] = await Promise.all([sendRepeatedly(stack, { path, query: parameters, decode: historyPageOf, signal }), loadFormatter()]);
  return page;
}

export interface CellHistoryQuery {
  sheet?: string;
  range?: string;
  until?: PositionOrTime | undefined;
  since?: PositionOrTime;
  author?: string;
  limit?: number;
  cursor?: string | undefined;
  signal?: AbortSignal | undefined;
}

export async function readCellHistory(
  stack: StackClient,
  id: string,
  query: CellHistoryQuery,
): Promise<CellHistoryPage> {
  const { signal, ...parameters } = query;
  const path = spreadsheetPath(id, "/cells/history");
  const [page] = await Promise.all([sendRepeatedly(stack, { path, query: parameters, decode: cellHistoryPageOf, signal }), loadFormatter()]);
  return page;
}

export interface DiffQuery {
  from: PositionOrTime;
  to: PositionOrTime;
  cursor?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Compares a spreadsheet at two positions. */
export async function readDiffPage(stack: StackClient, id: string, query: DiffQuery): Promise<DiffPage> {
  const { signal, ...parameters } = query;
  const path = spreadsheetPath(id, "/diff");
  return sendRepeatedly(stack, { path, query: parameters, decode: diffPageOf, signal });
}

export interface Diff extends DiffPage {
  /** Whether there are more differences than were read. */
  isTruncated: boolean;
}

/** Reads pages of a diff until it ends, or has `maxCells` cells. */
export async function readDiff(
  stack: StackClient,
  id: string,
  query: Omit<DiffQuery, "cursor">,
  maxCells: number,
): Promise<Diff> {
  const MAX_PAGES = 100;
  let page = await readDiffPage(stack, id, query);
  const diff: Diff = { ...page, isTruncated: false };
  for (let count = 1; page.next !== undefined; count += 1) {
    if (cellCount(diff) >= maxCells || count >= MAX_PAGES) return { ...diff, isTruncated: true };
    page = await readDiffPage(stack, id, { ...query, from: diff.from, to: diff.to, cursor: page.next });
    if (page.from !== diff.from || page.to !== diff.to) {
      throw new MalformedReply("a page of differences is of other positions than the first page");
    }
    diff.sheets = joinSheets(diff.sheets, page.sheets);
  }
  return diff;
}

/** Compares the state at a position with the newest one. */
export async function readDiffToNow(
  stack: StackClient,
  id: string,
  from: number,
  maxCells: number,
  signal?: AbortSignal,
): Promise<Diff> {
  const { position } = await readSheets(stack, id, undefined, signal);
  return readDiff(stack, id, { from, to: Math.max(position, from), signal }, maxCells);
}

function cellCount(diff: DiffPage): number {
  return diff.sheets.reduce((sum, sheet) => sum + sheet.cells.length + sheet.deletedCells.length, 0);
}

/** A sheet with many differences continues on the next page. */
function joinSheets(earlier: SheetDiff[], page: SheetDiff[]): SheetDiff[] {
  const joined = new Map(earlier.map((sheet) => [sheet.sheet, sheet]));
  for (const sheet of page) {
    const known = joined.get(sheet.sheet);
    joined.set(sheet.sheet, known === undefined ? sheet : joinSheet(known, sheet));
  }
  return [...joined.values()];
}

function joinSheet(known: SheetDiff, sheet: SheetDiff): SheetDiff {
  return {
    ...known,
    cells: known.cells.concat(sheet.cells),
    deletedCells: known.deletedCells.concat(sheet.deletedCells),
  };
}

/** Lists the sheets at a position; by default at the newest one. */
export async function readSheets(
  stack: StackClient,
  id: string,
  at?: PositionOrTime,
  signal?: AbortSignal,
): Promise<SheetsAt> {
  const path = spreadsheetPath(id, "/sheets");
  return sendRepeatedly(stack, { path, query: { at }, decode: sheetsAtOf, signal });
}
