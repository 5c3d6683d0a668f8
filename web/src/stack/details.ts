/** Reads and changes the details of a spreadsheet: its name and its status. */

import { fieldsOf, integerOf, oneOf, optionalInteger, optionalText, textOf, withoutAbsent } from "../data/decode";
import { spreadsheetPath, type StackClient } from "./http";

export const ROLES = ["viewer", "editor", "owner"] as const;
export type Role = (typeof ROLES)[number];

export const STATUSES = ["active", "archived", "deleted"] as const;
export type SpreadsheetStatus = (typeof STATUSES)[number];

/** A spreadsheet in the list, and the part of the details that is not about sharing. */
export interface Spreadsheet {
  id: string;
  /** May be empty. */
  name: string;
  status: SpreadsheetStatus;
  /** Absent if the caller has lost access. */
  role?: Role;
  createdS?: number;
  statusSinceS?: number;
  /** Id of the spreadsheet that this one is a fork of. */
  source?: string;
}

export function decodeSpreadsheet(value: unknown): Spreadsheet {
  const fields = fieldsOf(value, "a spreadsheet");
  const role = fields.role === undefined || fields.role === null ? undefined : oneOf(fields.role, ROLES, "a role");
  return withoutAbsent<Spreadsheet>({
    id: textOf(fields.id, "the id of a spreadsheet"),
    name: textOf(fields.name, "the name of a spreadsheet"),
    status: oneOf(fields.status, STATUSES, "the status of a spreadsheet"),
    role,
    createdS: optionalInteger(fields.created_s, "the creation time"),
    statusSinceS: optionalInteger(fields.status_since_s, "the time of a status"),
    source: optionalText(fields.source, "the source of a fork"),
  });
}

export async function readDetails(stack: StackClient, id: string, signal?: AbortSignal): Promise<Spreadsheet> {
  const reply = await stack.send({ path: spreadsheetPath(id, "/details"), decode: decodeSpreadsheet, signal });
  return reply.body;
}

export interface DetailsChange {
  name?: string;
  status?: SpreadsheetStatus;
}

export async function changeDetails(stack: StackClient, id: string, change: DetailsChange): Promise<Spreadsheet> {
  const path = spreadsheetPath(id, "/details");
  const reply = await stack.send({ method: "PATCH", path, body: change, decode: decodeSpreadsheet });
  return reply.body;
}

/** Returns the time of the newest entry of the log, in seconds since the Unix epoch. */
export async function readLastChangeS(stack: StackClient, id: string, signal?: AbortSignal): Promise<number | null> {
  const path = spreadsheetPath(id, "/history");
  const reply = await stack.send({ path, query: { limit: 1 }, decode: decodeNewestEntry, signal });
  return reply.body;
}

function decodeNewestEntry(value: unknown): number | null {
  const { entries } = fieldsOf(value, "a history");
  const [newest] = Array.isArray(entries) ? entries : [];
  return newest === undefined ? null : integerOf(fieldsOf(newest, "an entry").created_s, "the time of an entry");
}
