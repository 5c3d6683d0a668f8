import { tokenize, type Token, type TokenKind } from "./formula-tokens";
import { cycleAbsolute } from "./references";

/** A part of a text. */
export interface Span {
  start: number;
  end: number;
}

export interface EditedText {
  text: string;
  selection: Span;
}

/** Tokens after which a reference is allowed. */
const BEFORE_REFERENCE: readonly TokenKind[] = ["start", "operator", "open", "comma", "at"];

/**
 * Returns the part of a formula that a pointed cell replaces, or null if no reference is allowed at the caret.
 *
 * `pointed` is the reference that the last pointing inserted: pointing again replaces it. With `isReplacing`, any
 * reference at the caret is replaced: a click replaces a typed reference, an arrow key does not.
 */
export function pointPlace(text: string, caret: Span, pointed: Span | null, isReplacing: boolean): Span | null {
  if (!text.startsWith("=") || caret.start === 0) return null;
  if (pointed && caret.start === caret.end && caret.end === pointed.end) return pointed;
  const tokens = tokenize(text);
  const touched = tokens.find(({ kind, start, end }) => (kind === "reference" || kind === "sheet") && start <= caret.start && caret.end <= end);
  if (touched && (isReplacing || (touched.kind === "sheet" && touched.end === caret.end))) return { start: touched.start, end: touched.end };
  if (touched && touched.start < caret.start) return null;
  const isInside = tokens.some(({ kind, start, end }) => kind !== "space" && start < caret.start && caret.start < end);
  const before = tokens.filter(({ kind, end }) => kind !== "space" && end <= caret.start);
  const last = before[before.length - 1];
  const mayStand = last !== undefined && BEFORE_REFERENCE.includes(last.kind) && !isInArray(before);
  if (isInside || !mayStand) return null;
  return caret.start === caret.end && isBeforeValue(tokens, caret.end) ? null : caret;
}

function isInArray(tokens: readonly Token[]): boolean {
  const last = tokens.findLast(({ kind }) => kind === "openArray" || kind === "closeArray");
  return last?.kind === "openArray";
}

/** Returns whether a value follows directly: a reference between an operator and it would join it. */
function isBeforeValue(tokens: readonly Token[], caret: number): boolean {
  const next = tokens.find(({ start }) => start === caret);
  return next !== undefined && !["space", "close", "comma", "operator", "percent"].includes(next.kind);
}

/** Changes the `$` of the references at the caret or in the selected text, like F4. Returns null if there are none. */
export function cycleReferences(text: string, caret: Span): EditedText | null {
  const isTouched = ({ kind, area, start, end }: Token) => kind === "reference" && area !== null && start <= caret.end && caret.start <= end;
  const touched = text.startsWith("=") ? tokenize(text).filter(isTouched) : [];
  // A caret between two references changes the one before it.
  const changed = caret.start === caret.end ? touched.slice(0, 1) : touched;
  let edited: EditedText | null = null;
  for (const { start, end } of [...changed].reverse()) {
    const before: string = edited?.text ?? text;
    const cycled = cycleAbsolute(text.slice(start, end));
    const stop: number = edited ? edited.selection.end + cycled.length - (end - start) : start + cycled.length;
    edited = { text: before.slice(0, start) + cycled + before.slice(end), selection: { start, end: stop } };
  }
  if (edited && caret.start === caret.end) edited.selection.start = edited.selection.end;
  return edited;
}
