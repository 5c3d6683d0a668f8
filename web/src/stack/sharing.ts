/** Members and share links. */

import type { Role } from "./details";
import { newLinkOf, sharingOf } from "./decode";
import { spreadsheetPath, type StackClient } from "./http";
import { sendRepeatedly } from "./repeat";
import type { LinkRole, NewLink, Person, Sharing } from "./types";

export async function readSharing(stack: StackClient, id: string, signal?: AbortSignal): Promise<Sharing> {
  return sendRepeatedly(stack, { path: spreadsheetPath(id, "/details"), decode: sharingOf, signal });
}

/** Without an issuer, the person's tokens come from the issuer of the caller's token. */
export interface PersonToShareWith {
  subject: string;
  issuer?: string;
}

/** Shares a spreadsheet with a person, or changes their role. */
export async function share(
  stack: StackClient,
  id: string,
  person: PersonToShareWith,
  role: Role,
): Promise<Sharing> {
  const body = { ...person, role };
  return sendRepeatedly(stack, { path: spreadsheetPath(id, "/members"), body, decode: sharingOf });
}

/** Revokes a person's access. The server refuses to remove the last owner. */
export async function unshare(stack: StackClient, id: string, { subject, issuer }: Person): Promise<Sharing> {
  const path = spreadsheetPath(id, "/members");
  return sendRepeatedly(stack, { method: "DELETE", path, query: { subject, issuer }, decode: sharingOf });
}

export interface LinkToCreate {
  role: LinkRole;
  label?: string;
  expiresS?: number;
}

const SECRET_BYTES = 16;

/** Returns 16 random bytes in base64url without padding. */
export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** A repeated call with the same secret returns the same link. */
export async function createLink(
  stack: StackClient,
  id: string,
  { role, label, expiresS }: LinkToCreate,
  secret: string = newSecret(),
): Promise<NewLink> {
  const body = { role, secret, label, expires_s: expiresS };
  return sendRepeatedly(stack, { path: spreadsheetPath(id, "/links"), body, decode: newLinkOf });
}

export async function revokeLink(stack: StackClient, id: string, link: string): Promise<Sharing> {
  const path = spreadsheetPath(id, `/links/${encodeURIComponent(link)}`);
  return sendRepeatedly(stack, { method: "DELETE", path, decode: sharingOf });
}

/** Returns the address of a share link. The secret is in the fragment, so that it reaches no log. */
export function linkAddress(stackUrl: string, id: string, token: string): string {
  return `${stackUrl}/#/s/${id}?link=${encodeURIComponent(token.split(".").at(-1) ?? "")}`;
}
