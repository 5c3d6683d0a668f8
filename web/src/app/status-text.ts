/** The status of a spreadsheet as a short text. */

import type { SheetStatus } from "../data/types";
import { ageText } from "../grid/status-line";
import type { SpreadsheetStatus } from "../stack/details";
import { withPlainQuotes } from "../stack/plain-text";

export interface StatusContext {
  status: SpreadsheetStatus;
  /** Whether the token is that of a share link. */
  isLink: boolean;
  /** The position or time of a state that is not the newest. */
  at?: string | undefined;
}

const SAVING_MS = 3_000;

export interface StatusText {
  text: string;
  tone: "quiet" | "waiting" | "problem";
}

export function statusText(status: SheetStatus, context: StatusContext): StatusText {
  const waiting = waitingText(status);
  const isSaving = status.isOnline && (status.oldestPendingMs ?? 0) < SAVING_MS;
  if (status.problem !== null) {
    return { text: join(waiting, asSentence(withPlainQuotes(status.problem))), tone: "problem" };
  }
  if (!status.isOnline) return { text: join(status.isConnecting === true ? "Connecting" : "Offline", waiting), tone: "waiting" };
  // Each edit waits for a moment, which is no news.
  if (waiting !== "") return isSaving ? { text: "Saving…", tone: "quiet" } : { text: waiting, tone: "waiting" };
  return { text: readOnlyReason(status, context) ?? "Saved", tone: "quiet" };
}

/** Returns why the user cannot edit, or null. */
export function readOnlyReason(status: Pick<SheetStatus, "role" | "readOnlyReason">, context: StatusContext): string | null {
  if (context.at !== undefined) return "Read-only: an earlier state";
  if (context.status === "archived") return "Read-only: archived";
  if (context.status === "deleted") return "Read-only: deleted";
  if (status.readOnlyReason !== undefined) return `Read-only: ${status.readOnlyReason}`;
  if (status.role !== "viewer") return null;
  return context.isLink ? "Read-only: the share link is for viewers" : "Read-only: you are a viewer";
}

function waitingText({ pending, oldestPendingMs }: SheetStatus): string {
  if (pending === 0) return "";
  const edits = pending === 1 ? "1 edit waits" : `${pending.toLocaleString("en-US")} edits wait`;
  return oldestPendingMs === null || oldestPendingMs < 1_000 ? edits : `${edits}, for ${ageText(oldestPendingMs)}`;
}

function join(...parts: string[]): string {
  return parts.filter((part) => part !== "").join(" · ");
}

function asSentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
