/** The log and the cells of a spreadsheet, read without the page: what the tests compare the page with. */

import { expect } from "vitest";
import type { Stack } from "../stack";

export interface LoggedEdit {
  client: string;
  id: number;
  position: number;
  op: unknown;
}

interface HistoryEntry {
  position: number;
  client_key?: string;
  mutations?: { id: number; op: unknown }[];
}

/** Returns the edits of all entries, oldest first. */
export async function readLog(stack: Stack, spreadsheet: string): Promise<LoggedEdit[]> {
  const PAGE = 1_000;
  const edits: LoggedEdit[] = [];
  for (let until: number | undefined; ; ) {
    const query = new URLSearchParams({ limit: String(PAGE), ...(until === undefined ? {} : { until: String(until) }) });
    const response = await fetch(`${stack.url}/v1/spreadsheets/${spreadsheet}/history?${query}`, { headers: { authorization: `Bearer ${stack.token}` } });
    const { entries } = (await response.json()) as { entries: HistoryEntry[] };
    for (const { position, client_key: client = "", mutations = [] } of entries) {
      // Within an entry the oldest comes first, but the list is reversed in the end.
      for (const { id, op } of [...mutations].reverse()) edits.push({ client, id, position, op });
    }
    const oldest = entries[entries.length - 1]?.position ?? 0;
    if (oldest === 0 || entries.length < PAGE) return edits.reverse();
    until = oldest - 1;
  }
}

/** Fails unless the ids of each client are 1, 2, 3 … in the order of the log. */
export function expectEachOnceInOrder(log: readonly LoggedEdit[]): void {
  for (const client of new Set(log.map((edit) => edit.client))) {
    const ids = log.filter((edit) => edit.client === client).map(({ id }) => id);
    expect(ids, `ids of client ${client}`).toEqual(ids.map((_, index) => index + 1));
  }
}

/** Returns the displayed texts of all cells by address, such as `{"0,1": "12.80"}`, as `cellar get` prints them. */
export async function readCells(stack: Stack, spreadsheet: string): Promise<Record<string, string>> {
  const output = await stack.cellar("get", "A1:Z5000", "-s", spreadsheet, "--json");
  const { cells, texts } = JSON.parse(output) as { cells: { row: number; column: number }[]; texts: string[] };
  return Object.fromEntries(cells.map(({ row, column }, index) => [`${row},${column}`, texts[index]!]));
}
