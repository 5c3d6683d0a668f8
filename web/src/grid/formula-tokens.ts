import { areaAt, matchAt, wordAt, type Area } from "./formula-area";

/**
 * What a part of a formula is. `unknown` is text that is incomplete or wrong; `unsupported` is a reference that the
 * server does not calculate, such as `Sales[Amount]`. `sheet` is a sheet name whose cells are not typed yet.
 */
export type TokenKind =
  | "start" | "space" | "number" | "text" | "boolean" | "error" | "reference" | "name" | "function" | "sheet"
  | "open" | "close" | "openArray" | "closeArray" | "comma" | "semicolon" | "operator" | "at" | "percent" | "spill"
  | "unsupported" | "unknown";

export interface Token {
  kind: TokenKind;
  start: number;
  end: number;
  /** The cells of a reference, or null if they were deleted: `#REF!`. */
  area?: Area | null;
  /** The sheet name of a reference, without quotes. Absent if the reference names no sheet. */
  sheet?: string;
}

const SPACE = /[ \t\n\r]+/y;
const NUMBER = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const TEXT = /"[^"]*(?:""[^"]*)*"?/y;
const QUOTED = /'[^']*(?:''[^']*)*'(?!')/y;
const LAST_SHEET = /:[\p{Alphabetic}\p{N}_.$\\?]+!/uy;
const ERROR = /#(?:NULL!|DIV\/0!|VALUE!|REF!|NAME\?|NUM!|N\/A|GETTING_DATA|SPILL!|CONNECT!|BLOCKED!|CALC!|LOST!|UNKNOWN!|FIELD!|EXTERNAL!|BUSY!|PYTHON!)/iy;
const DELETED = /#REF!/iy;
const SYMBOLS: Record<string, TokenKind> = {
  "(": "open", ")": "close", "{": "openArray", "}": "closeArray", ",": "comma", ";": "semicolon", "@": "at", "%": "percent",
};
const OPERATOR = /<=|>=|<>|[+\-*/^&=<>:]/y;
const WORD_START = /[\p{Alphabetic}_\\$]/uy;
const SPILLS: readonly TokenKind[] = ["reference", "name", "close", "unsupported"];
// Sheets of files have fewer rows and columns: `Data1` is a cell here, and may be the name of a sheet there.
const MAX_FILE_ROWS = 1_048_576;
const MAX_FILE_COLUMNS = 16_384;

/**
 * Splits a formula, with or without its `=`, into tokens that cover the text without gaps. Accepts any text, since it
 * may be incomplete. References are those that the server's parser finds (`core/formula/src/syntax/tokenizer.rs`).
 */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const token = tokenAt(text, at, tokens[tokens.length - 1]);
    const last = tokens[tokens.length - 1];
    if (token.kind === "unknown" && last?.kind === "unknown") last.end = token.end;
    else tokens.push(token);
    at = token.end;
  }
  return tokens;
}

function tokenAt(text: string, at: number, previous: Token | undefined): Token {
  const first = text[at]!;
  const token = (kind: TokenKind, length: number): Token => ({ kind, start: at, end: at + length });
  if (at === 0 && first === "=") return token("start", 1);
  const space = matchAt(SPACE, text, at);
  if (space) return token("space", space.length);
  if (first === '"') return token("text", matchAt(TEXT, text, at).length);
  if (first === "'") return quotedSheet(text, at);
  if (first === "#") return hash(text, at, previous);
  if (first === "[") return brackets(text, at);
  if (/[\d.]/.test(first)) return numberAt(text, at);
  const symbol = SYMBOLS[first];
  if (symbol) return token(symbol, 1);
  const operator = matchAt(OPERATOR, text, at);
  if (operator) return token("operator", operator.length);
  if (matchAt(WORD_START, text, at)) return word(text, at);
  return token("unknown", characterLength(text, at));
}

function numberAt(text: string, at: number): Token {
  const area = areaAt(text, at);
  if (area) return { kind: "reference", start: at, end: at + area.length, area: area.area };
  const length = matchAt(NUMBER, text, at).length;
  return { kind: length > 0 ? "number" : "unknown", start: at, end: at + Math.max(1, length) };
}

function hash(text: string, at: number, previous: Token | undefined): Token {
  const error = matchAt(ERROR, text, at);
  if (!error) return { kind: previous && SPILLS.includes(previous.kind) ? "spill" : "unknown", start: at, end: at + 1 };
  const end = at + error.length;
  if (error.toUpperCase() !== "#REF!") return { kind: "error", start: at, end };
  // `#REF!A1` is a reference to a deleted sheet.
  return { kind: "reference", start: at, end: end + (areaAt(text, end)?.length ?? 0), area: null };
}

function word(text: string, at: number): Token {
  const found = wordAt(text, at);
  const end = at + found.length;
  const lastSheet = matchAt(LAST_SHEET, text, end);
  if (lastSheet && isSheetInFiles(found)) return afterSheet(text, at, end + lastSheet.length, null);
  const area = areaAt(text, at);
  if (area) return { kind: "reference", start: at, end: at + area.length, area: area.area };
  if (found.includes("$")) return { kind: "unknown", start: at, end };
  if (text[end] === "!") return afterSheet(text, at, end + 1, isFile(found) ? null : found);
  if (text[end] === "[") return { kind: "unsupported", start: at, end: bracketsEnd(text, end) };
  const isFunction = text[end + matchAt(SPACE, text, end).length] === "(";
  const kind = isFunction ? "function" : /^(?:true|false)$/i.test(found) ? "boolean" : "name";
  return { kind, start: at, end };
}

function quotedSheet(text: string, at: number): Token {
  const quoted = matchAt(QUOTED, text, at);
  const end = at + quoted.length;
  if (!quoted) return { kind: "unknown", start: at, end: text.length };
  if (text[end] !== "!") return { kind: "unknown", start: at, end };
  const name = quoted.slice(1, -1).replaceAll("''", "'");
  return afterSheet(text, at, end + 1, name === "" || isFile(name) || name.includes(":") ? null : name);
}

/** Reads the area after a sheet name. `sheet` is null if the server does not support references to it. */
function afterSheet(text: string, start: number, at: number, sheet: string | null): Token {
  const deleted = matchAt(DELETED, text, at);
  const area = deleted ? null : areaAt(text, at);
  if (!deleted && !area) {
    const name = wordAt(text, at);
    return name ? { kind: "unsupported", start, end: at + name.length } : { kind: "sheet", start, end: at, ...(sheet === null ? {} : { sheet }) };
  }
  const end = at + (deleted.length || (area?.length ?? 0));
  return sheet === null ? { kind: "unsupported", start, end } : { kind: "reference", start, end, area: area?.area ?? null, sheet };
}

function brackets(text: string, at: number): Token {
  const end = bracketsEnd(text, at);
  const sheet = wordAt(text, end);
  if (text[end + sheet.length] === "!") return afterSheet(text, at, end + sheet.length + 1, null);
  return { kind: "unsupported", start: at, end };
}

/** Returns the end of the brackets, or of the text if they are not closed. `'` escapes the next character. */
function bracketsEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === "'") at++;
    else if (text[at] === "[") depth++;
    else if (text[at] === "]" && --depth === 0) return at + 1;
  }
  return text.length;
}

function isFile(name: string): boolean {
  return /[[\\/]/.test(name);
}

function isSheetInFiles(name: string): boolean {
  if (name.includes("$")) return false;
  const found = areaAt(name, 0)?.area;
  if (!found || found.isRange || !found.rows || !found.columns) return true;
  return found.rows[0].index >= MAX_FILE_ROWS || found.columns[0].index >= MAX_FILE_COLUMNS;
}

function characterLength(text: string, at: number): number {
  return text.codePointAt(at)! > 0xffff ? 2 : 1;
}
