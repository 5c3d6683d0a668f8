import type { CellInput } from "../data/types";
import { cellName, type CellAddress } from "./address";
import type { Direction } from "./navigation";

/**
 * What the textarea over the active cell is used for.
 *
 * - `ready`: the textarea is empty and transparent; keys move the selection.
 * - `typing`: opened by typing; arrow keys commit, as in other spreadsheets.
 * - `editing`: opened by F2, double click or the formula bar; arrow keys move the caret.
 */
export type EditState =
  | { mode: "ready" }
  | { mode: "typing" | "editing"; cell: CellAddress; original: string };

export type EditEvent =
  | { kind: "type"; cell: CellAddress; original: string }
  | { kind: "open"; cell: CellAddress; original: string }
  | { kind: "toggle" }
  | { kind: "commit"; text: string; advance: Direction | null }
  | { kind: "cancel" };

export interface EditStep {
  state: EditState;
  /** New text of the textarea, if it changes. */
  text?: string;
  /** The edit to store. Absent if the text did not change. */
  input?: CellInput;
  /** Where the selection moves. */
  advance?: Direction;
}

export const READY: EditState = { mode: "ready" };

export function edit(state: EditState, event: EditEvent): EditStep {
  switch (event.kind) {
    case "type":
      return state.mode === "ready" ? { state: opened("typing", event) } : { state };
    case "open":
      return state.mode === "ready" ? { state: opened("editing", event), text: event.original } : { state };
    case "toggle":
      if (state.mode === "ready") return { state };
      return { state: { ...state, mode: state.mode === "typing" ? "editing" : "typing" } };
    case "cancel":
      return { state: READY, text: "" };
    case "commit":
      return commit(state, event.text, event.advance);
  }
}

/** The message that gives back a text whose cell or sheet was deleted meanwhile. */
export function deletedText({ row, column }: CellAddress, text: string): string {
  return `${cellName(row, column)} was deleted while you edited it. Your text was: ${text}`;
}

function opened(mode: "typing" | "editing", event: { cell: CellAddress; original: string }): EditState {
  return { mode, cell: event.cell, original: event.original };
}

function commit(state: EditState, text: string, advance: Direction | null): EditStep {
  const step: EditStep = { state: READY, text: "" };
  if (advance) step.advance = advance;
  // An unchanged text is no edit: it would be an entry in the log, and a conflict with edits of others.
  if (state.mode !== "ready" && text !== state.original) step.input = { ...state.cell, input: text };
  return step;
}
