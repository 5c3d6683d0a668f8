import type { SheetStatus } from "../data/types";
import { formatNumber } from "./cell-text";
import { make, setText } from "./dom";

/** Summary of the selection, edits that wait, and the position of the log. */
export class StatusLine {
  readonly #summary = make("span", "summary");
  readonly #waiting = make("span", "waiting");
  readonly #problem = make("span", "problem", { role: "status" });
  readonly #position = make("span", "position");
  /** Whether it shows edits that wait and problems. A page may show them elsewhere. */
  isShowingSync = true;
  readonly element = make("div", "status", {}, this.#summary, this.#waiting, this.#problem, this.#position);

  draw(status: SheetStatus, summary: string): void {
    setText(this.#summary, summary);
    setText(this.#waiting, this.isShowingSync ? waitingText(status) : "");
    setText(this.#problem, this.isShowingSync ? (status.problem ?? (status.isOnline ? "" : status.isConnecting === true ? "Connecting" : "Offline")) : "");
    setText(this.#position, (status.role === "viewer" ? "View only · " : "") + `Position ${status.position}`);
    for (const part of [this.#summary, this.#waiting, this.#problem]) part.hidden = part.textContent === "";
  }
}

function waitingText(status: SheetStatus): string {
  if (status.pending === 0) return "";
  const edits = status.pending === 1 ? "1 edit" : `${formatNumber(status.pending)} edits`;
  const age = status.oldestPendingMs === null ? "" : `, oldest ${ageText(status.oldestPendingMs)}`;
  return `${edits} not sent${age}`;
}

export function ageText(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
