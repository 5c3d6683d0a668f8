/** Reads, finds and filters cells, page by page. */

import { cellsPageOf, filterPageOf, findPageOf } from "./decode-cells";
import { spreadsheetPath, type StackClient, type StackRequest } from "./http";
import { sendRepeatedly } from "./repeat";
import type { CellsPage, FilterPage, FindPage, PositionOrTime } from "./types";

export interface CellsQuery {
  /** Name of the sheet; by default the first. */
  sheet?: string;
  range?: string;
  at?: PositionOrTime | undefined;
  signal?: AbortSignal | undefined;
}

export interface FindQuery extends CellsQuery {
  text: string;
  regex?: boolean;
  count_only?: boolean;
}

export interface FilterQuery extends CellsQuery {
  /** Conditions such as `D=TX && F>=1000`. */
  where: string;
  sum?: string;
  count_only?: boolean;
}

interface Page {
  position: number;
  next?: string;
}

/** Yields all pages of one state. The state of the first page is that of all. */
async function* pagesOf<T extends Page>(
  stack: StackClient,
  request: StackRequest<T> & { query: NonNullable<StackRequest<T>["query"]> },
): AsyncGenerator<T, void, void> {
  let page = await sendRepeatedly(stack, request);
  yield page;
  while (page.next !== undefined) {
    const query = { ...request.query, at: page.position, cursor: page.next };
    page = await sendRepeatedly(stack, { ...request, query });
    yield page;
  }
}

export function readCells(stack: StackClient, id: string, query: CellsQuery): AsyncGenerator<CellsPage, void, void> {
  const { signal, ...parameters } = query;
  return pagesOf(stack, { path: spreadsheetPath(id, "/cells"), query: parameters, decode: cellsPageOf, signal });
}

/** A page may be empty although others follow. */
export function findCells(stack: StackClient, id: string, query: FindQuery): AsyncGenerator<FindPage, void, void> {
  const { signal, ...parameters } = query;
  return pagesOf(stack, { path: spreadsheetPath(id, "/cells/find"), query: parameters, decode: findPageOf, signal });
}

/** A page may be empty although others follow. */
export function filterCells(
  stack: StackClient,
  id: string,
  query: FilterQuery,
): AsyncGenerator<FilterPage, void, void> {
  const { signal, ...parameters } = query;
  const path = spreadsheetPath(id, "/cells/filter");
  return pagesOf(stack, { path, query: parameters, decode: filterPageOf, signal });
}
