/** Renames, archives and deletes spreadsheets. */

import { changeDetails, type Spreadsheet } from "./details";
import type { StackClient } from "./http";
import { repeated } from "./repeat";

type StatusChange = (stack: StackClient, id: string) => Promise<Spreadsheet>;

export async function rename(stack: StackClient, id: string, name: string): Promise<Spreadsheet> {
  return repeated(() => changeDetails(stack, id, { name }));
}

export const archive: StatusChange = (stack, id) => repeated(() => changeDetails(stack, id, { status: "archived" }));
export const unarchive: StatusChange = (stack, id) => repeated(() => changeDetails(stack, id, { status: "active" }));
/** A deleted spreadsheet can be recovered for 30 days. */
export const deleteSpreadsheet: StatusChange = (stack, id) =>
  repeated(() => changeDetails(stack, id, { status: "deleted" }));
export const undelete: StatusChange = (stack, id) => repeated(() => changeDetails(stack, id, { status: "active" }));
