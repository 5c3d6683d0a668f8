import type { FunctionInfo } from "./formula-functions";
import type { Span } from "./formula-point";
import { tokenize, type Token } from "./formula-tokens";
import { sheetText } from "./references";

export interface CompletionItem {
  /** Shown in the list. */
  label: string;
  /** The text that is inserted. */
  text: string;
  detail: string;
}

export interface Completion {
  /** The part of the text that an item replaces. */
  span: Span;
  items: readonly CompletionItem[];
  /** Enter and Tab take the first item. Otherwise what was typed is a text of its own, such as a reference. */
  isCertain: boolean;
}

export interface CompletionWords {
  functions: readonly FunctionInfo[];
  /** Defined names. */
  names: readonly string[];
  sheets: readonly string[];
}

export interface Call {
  name: string;
  /** Index of the argument at the caret. */
  argument: number;
}

const MAX_ITEMS = 60;
/** So many letters also find names that contain them, such as XLOOKUP for "lookup". */
const MIN_CONTAINED_LETTERS = 3;

/** Returns the words that may continue the text before the caret, or null if there are none. */
export function completionAt(text: string, caret: Span, words: CompletionWords): Completion | null {
  if (!text.startsWith("=") || caret.start !== caret.end) return null;
  const tokens = tokenize(text);
  const token = tokens.find(({ start, end }) => start < caret.end && caret.end <= end);
  if (!token || token.end !== caret.end) return null;
  const typed = text.slice(token.start, token.end);
  if (token.kind === "unknown" && typed.startsWith("'")) {
    return completion(token, sheetItems(words.sheets, typed.slice(1).replaceAll("''", "'")), true);
  }
  const isWord = token.kind === "name" || token.kind === "function" || token.kind === "boolean";
  const isCell = token.kind === "reference" && /^[A-Za-z]+\d+$/.test(typed);
  if (!isWord && !isCell) return null;
  const isKnown = isCell || token.kind === "boolean" || isOwnName(text, tokens, token) || words.names.some((name) => isSame(name, typed));
  const items = [...functionItems(words.functions, typed, text[token.end] === "("), ...nameItems(words.names, typed), ...sheetItems(words.sheets, typed)];
  const isWhole = items.length === 1 && isSame(items[0]!.label, typed) && token.kind === "function";
  return isWhole ? null : completion(token, items, !isKnown);
}

function completion({ start, end }: Token, items: readonly CompletionItem[], isCertain: boolean): Completion | null {
  return items.length === 0 ? null : { span: { start, end }, items: items.slice(0, MAX_ITEMS), isCertain };
}

/** Returns whether the word is also elsewhere in the formula, such as a variable of LET. */
function isOwnName(text: string, tokens: readonly Token[], token: Token): boolean {
  const typed = text.slice(token.start, token.end);
  return tokens.some((other) => other !== token && other.kind === "name" && isSame(text.slice(other.start, other.end), typed));
}

function functionItems(functions: readonly FunctionInfo[], typed: string, hasParenthesis: boolean): CompletionItem[] {
  const found = matches(functions, ({ name }) => name, typed);
  // What is kept for old files comes after its successor.
  const isOld = ({ meaning }: FunctionInfo): boolean => meaning.startsWith("Like ") || /\bOlder (?:name|form) of /.test(meaning);
  return [...found.filter((info) => !isOld(info)), ...found.filter(isOld)].map(({ name, meaning }) => ({
    label: name,
    text: hasParenthesis ? name : `${name}(`,
    detail: meaning,
  }));
}

function nameItems(names: readonly string[], typed: string): CompletionItem[] {
  return matches(names, (name) => name, typed).map((name) => ({ label: name, text: name, detail: "Name" }));
}

function sheetItems(sheets: readonly string[], typed: string): CompletionItem[] {
  return matches(sheets, (name) => name, typed).map((name) => ({ label: name, text: `${sheetText(name)}!`, detail: "Sheet" }));
}

/** Returns what starts with the letters, then what contains them. */
function matches<T>(all: readonly T[], nameOf: (one: T) => string, typed: string): T[] {
  const letters = typed.toLowerCase();
  const placed = all.map((one) => ({ one, at: nameOf(one).toLowerCase().indexOf(letters) }));
  const contained = letters.length >= MIN_CONTAINED_LETTERS ? placed.filter(({ at }) => at > 0) : [];
  return [...placed.filter(({ at }) => at === 0), ...contained].map(({ one }) => one);
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** Returns the innermost function call around the caret, or null. */
export function callAt(text: string, caret: number): Call | null {
  if (!text.startsWith("=")) return null;
  const open: (Call | null)[] = [];
  let previous: Token | undefined;
  for (const token of tokenize(text)) {
    if (token.end > caret) break;
    const top = open[open.length - 1];
    if (token.kind === "open") open.push(previous?.kind === "function" ? { name: text.slice(previous.start, previous.end), argument: 0 } : null);
    else if (token.kind === "openArray") open.push(null);
    else if (token.kind === "close" || token.kind === "closeArray") open.pop();
    else if (token.kind === "comma" && top) top.argument++;
    if (token.kind !== "space") previous = token;
  }
  return open.findLast((call) => call !== null) ?? null;
}
