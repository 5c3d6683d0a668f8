import type { EditState } from "./edit";
import type { Direction, Move } from "./navigation";

export interface Key {
  key: string;
  ctrl: boolean;
  shift: boolean;
  alt: boolean;
  /** An input method or a dead key handles this key. */
  isComposing: boolean;
}

export type Command =
  | { kind: "move"; move: Move; isExtending: boolean }
  | { kind: "advance"; axis: "rows" | "columns"; step: 1 | -1 }
  | { kind: "commit"; advance: Direction | null }
  | { kind: "widen" | "insert" | "delete"; axis: "rows" | "columns" }
  | { kind: "resizeColumns"; by: number }
  | { kind: "open" | "toggle" | "cancel" | "clear" | "selectAll" | "undo" | "redo" | "find" | "goTo" | "menu" | "newline" | "fillDown" | "releaseTab" | "leave" };

/** Returns whether an input method uses the key. Safari ends a composition before the Enter that ends it; its code is still 229. */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}

/** Whether whole rows or columns are selected. */
export type Whole = "rows" | "columns" | null;

export const ARROWS: Readonly<Record<string, Direction>> = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" };
const RESIZE_STEP = 8;

/** Returns the command of a key, or null if the browser handles it, such as letters, which the textarea receives. */
export function commandOf(key: Key, mode: EditState["mode"], isTabReleased: boolean, whole: Whole = null): Command | null {
  if (key.isComposing) return null;
  if (mode !== "ready") return editingCommand(key, mode);
  if (key.key === "Tab" && isTabReleased) return { kind: "leave" };
  return key.ctrl && !key.alt ? (structureCommand(key, whole) ?? controlCommand(key)) : plainCommand(key);
}

/** Ctrl+Plus and Ctrl+Minus change selected rows or columns. Without any, they zoom the page. */
function structureCommand(key: Key, whole: Whole): Command | null {
  if (!whole || !/^[-+=_]$/.test(key.key)) return null;
  return { kind: /[-_]/.test(key.key) ? "delete" : "insert", axis: whole };
}

function editingCommand(key: Key, mode: "typing" | "editing"): Command | null {
  switch (key.key) {
    case "Enter":
      if (key.alt || key.ctrl) return { kind: "newline" };
      return { kind: "commit", advance: key.shift ? "up" : "down" };
    case "Tab":
      return { kind: "commit", advance: key.shift ? "left" : "right" };
    case "Escape":
      return { kind: "cancel" };
    case "F2":
      return { kind: "toggle" };
  }
  const direction = ARROWS[key.key];
  const isPlain = !key.ctrl && !key.alt && !key.shift;
  return direction && mode === "typing" && isPlain ? { kind: "commit", advance: direction } : null;
}

// No shortcut uses Ctrl+Alt: Windows sends AltGr as Ctrl+Alt, and letters of several languages need AltGr.
function controlCommand(key: Key): Command | null {
  const direction = ARROWS[key.key];
  if (direction) return { kind: "move", move: { kind: "edge", direction }, isExtending: key.shift };
  switch (key.key) {
    case "Home":
      return { kind: "move", move: { kind: "sheetStart" }, isExtending: key.shift };
    case "End":
      return { kind: "move", move: { kind: "sheetEnd" }, isExtending: key.shift };
    case " ":
      return key.shift ? { kind: "selectAll" } : { kind: "widen", axis: "columns" };
  }
  switch (key.key.toLowerCase()) {
    case "a":
      return { kind: "selectAll" };
    case "d":
      return { kind: "fillDown" };
    case "f":
      return { kind: "find" };
    case "g":
      return { kind: "goTo" };
    case "y":
      return { kind: "redo" };
    case "z":
      return { kind: key.shift ? "redo" : "undo" };
  }
  return null;
}

function plainCommand(key: Key): Command | null {
  const direction = ARROWS[key.key];
  if (direction) return arrowCommand(key, direction);
  switch (key.key) {
    case "PageUp":
    case "PageDown":
      return pageCommand(key);
    case "Home":
      return { kind: "move", move: { kind: "rowStart" }, isExtending: key.shift };
    case "End":
      return { kind: "move", move: { kind: "rowEnd" }, isExtending: key.shift };
    case "Enter":
      return { kind: "advance", axis: "rows", step: key.shift ? -1 : 1 };
    case "Tab":
      return { kind: "advance", axis: "columns", step: key.shift ? -1 : 1 };
    case "Escape":
      return { kind: "releaseTab" };
    case "F2":
      return { kind: "open" };
    case "Delete":
    case "Backspace":
      return { kind: "clear" };
    case "ContextMenu":
      return { kind: "menu" };
    case "F10":
      return key.shift ? { kind: "menu" } : null;
    case " ":
      return key.shift ? { kind: "widen", axis: "rows" } : null;
  }
  return null;
}

function arrowCommand(key: Key, direction: Direction): Command | null {
  if (!key.alt) return { kind: "move", move: { kind: "cell", direction }, isExtending: key.shift };
  if (!key.shift || direction === "up" || direction === "down") return null;
  return { kind: "resizeColumns", by: direction === "right" ? RESIZE_STEP : -RESIZE_STEP };
}

function pageCommand(key: Key): Command {
  const isUp = key.key === "PageUp";
  const direction: Direction = key.alt ? (isUp ? "left" : "right") : isUp ? "up" : "down";
  return { kind: "move", move: { kind: "page", direction }, isExtending: key.shift };
}
