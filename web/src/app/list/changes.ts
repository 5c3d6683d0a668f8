/** Changes of spreadsheets that the list may not have yet, because it is eventually consistent. */

import type { Spreadsheet } from "../../stack/details";

/** The list has a change after this time. Then a later change by another person may be listed. */
export const CHANGE_KEPT_MS = 30_000;

/** A changed spreadsheet by its id, and when it was changed. */
export type Changes = Map<string, { spreadsheet: Spreadsheet; changedMs: number }>;

/**
 * Returns the listed spreadsheets with the changes. A change is removed from `changes` once the list
 * has it, or after `CHANGE_KEPT_MS`. A changed spreadsheet that is not listed is added, unless it does
 * not match the search.
 */
export function withChanges(listed: Spreadsheet[], changes: Changes, search: string, nowMs: number): Spreadsheet[] {
  const listedById = new Map(listed.map((one) => [one.id, one]));
  for (const [id, { spreadsheet, changedMs }] of changes) {
    const known = listedById.get(id);
    const isListed = known?.status === spreadsheet.status && known.name === spreadsheet.name;
    if (isListed || nowMs - changedMs > CHANGE_KEPT_MS) changes.delete(id);
  }
  const shown = listed.map((one) => ({ ...one, ...changes.get(one.id)?.spreadsheet }));
  const wanted = search.trim().toLowerCase();
  const changed = [...changes.values()].map(({ spreadsheet }) => spreadsheet);
  const missing = changed.filter(({ id, name }) => !listedById.has(id) && name.toLowerCase().includes(wanted));
  return [...shown, ...missing];
}
