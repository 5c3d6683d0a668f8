/** Opens spreadsheets of a real stack, and compares what is shown with `cellar get`. */

import "fake-indexeddb/auto";
import { expect } from "vitest";
import { openSheet, type OpenedSheet, type OpenOptions, type Range } from "../../../src/data/index";
import { MAX_COLUMNS } from "../../../src/data/limits";
import type { Stack } from "../../stack";

export const WINDOW: Range = { firstRow: 0, rowCount: 60, firstColumn: 0, columnCount: 12 };

export async function open(stack: Stack, spreadsheet: string, options: Partial<OpenOptions> = {}): Promise<OpenedSheet> {
  const { url, token } = stack;
  const sheet = await openSheet({ url, spreadsheet, getToken: () => token, ...options });
  sheet.request(WINDOW);
  await until(() => isAllLoaded(sheet), "the window is loaded");
  return sheet;
}

export function isAllLoaded(sheet: OpenedSheet, window = WINDOW): boolean {
  for (const { row, column } of placesIn(window)) {
    if (!sheet.isLoaded(row, column)) return false;
  }
  return true;
}

function* placesIn({ firstRow, rowCount, firstColumn, columnCount }: Range) {
  for (let row = firstRow; row < firstRow + rowCount; row += 1) {
    for (let column = firstColumn; column < firstColumn + columnCount; column += 1) yield { row, column };
  }
}

export interface Printed {
  row: number;
  column: number;
  [field: string]: unknown;
}

/** Returns the cells of a sheet as `cellar get --json` prints them, with their texts. */
export async function printed(stack: Stack, spreadsheet: string, sheetName?: string, at?: string): Promise<Printed[]> {
  const options = ["--range", "A1:L60", "--json", "--remote", "-s", spreadsheet];
  if (sheetName !== undefined) options.push("--sheet", sheetName);
  if (at !== undefined) options.push("--at", at);
  const reply = JSON.parse(await stack.cellar("get", ...options)) as { cells: Printed[]; texts: string[] };
  return reply.cells.map((cell, index) => ({ ...cell, text: reply.texts[index] }));
}

/** Returns the shown cells with the names of fields that the command prints. */
export function shown(sheet: OpenedSheet, window = WINDOW): Printed[] {
  const cells: Printed[] = [];
  for (const { row, column } of placesIn(window)) {
    const cell = sheet.cellAt(row, column);
    if (cell === undefined) continue;
    const { filledBy, ...rest } = cell;
    cells.push(filledBy === undefined ? rest : { ...rest, filled_by: filledBy });
  }
  return cells;
}

/** Waits until all is confirmed, and compares every cell of the window. */
export async function expectSame(stack: Stack, spreadsheet: string, sheets: readonly OpenedSheet[]): Promise<Printed[]> {
  await settle(stack, spreadsheet, sheets);
  const name = sheets[0]?.sheets.find((info) => info.sheet === sheets[0]?.sheet)?.name;
  const expected = await printed(stack, spreadsheet, name);
  const keyOf = ({ row, column }: Printed) => row * MAX_COLUMNS + column;
  const sorted = [...expected].sort((left, right) => keyOf(left) - keyOf(right));
  for (const sheet of sheets) {
    // Outdated blocks are shown until they are loaded again.
    await until(() => isAllLoaded(sheet) && same(shown(sheet), sorted), "the cells", 3_000).catch(() => undefined);
    expect(shown(sheet)).toEqual(sorted);
  }
  return sorted;
}

function same(left: Printed[], right: Printed[]): boolean {
  const text = (cells: Printed[]) =>
    JSON.stringify(cells.map((cell) => Object.entries(cell).sort(([first], [second]) => (first < second ? -1 : 1))));
  return text(left) === text(right);
}

/** Waits until the sheets have no pending edits and show the newest position. */
export async function settle(stack: Stack, spreadsheet: string, sheets: readonly OpenedSheet[], waitMs = 10_000): Promise<void> {
  await until(() => sheets.every((sheet) => sheet.status.pending === 0), "all edits are confirmed", waitMs);
  const { head } = JSON.parse(await stack.cellar("head", "--json", "-s", spreadsheet)) as { head: number };
  const newest = `${Math.floor(head / 2 ** 32)}.${head % 2 ** 32}`;
  for (const sheet of sheets) sheet.refresh();
  await until(() => sheets.every((sheet) => sheet.status.position === newest), `position ${newest} is shown`, waitMs);
}

export async function until(condition: () => boolean, what: string, waitMs = 5_000): Promise<void> {
  const startMs = Date.now();
  while (!condition()) {
    if (Date.now() - startMs > waitMs) throw new Error(`it did not come true that ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
