import { normalizeBreaks, parseTsv, textHash } from "./clipboard-text";
import { MAX_PASTED_CELLS } from "./limits";
import { originKey } from "./origin-key";

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** What this grid adds to copied HTML: formulas, and the address that their references are relative to. */
export interface Payload {
  row: number;
  column: number;
  inputs: string[][];
  /** The cells were moved: their formulas read the same cells as before. */
  isCut: boolean;
}

/** Returns a table for other programs. `mso` styles keep line breaks in one cell and text as text in Excel. */
export function serializeHtml(rows: readonly (readonly { text: string; isText: boolean }[])[], payload: Payload, plain: string): string {
  const body = rows.map((row) => `<tr>${row.map(tableCell).join("")}</tr>`).join("");
  const data = escapeHtml(JSON.stringify(payload));
  return `<style>br{mso-data-placement:same-cell}</style><table data-cellar-hash="${markOf(plain)}" data-cellar="${data}">${body}</table>`;
}

function tableCell(cell: { text: string; isText: boolean }): string {
  const style = cell.isText ? ` style="mso-number-format:'\\@'"` : "";
  const text = escapeHtml(cell.text).replace(/\n/g, "<br>").replace(/ {2}/g, " &nbsp;");
  return `<td${style}>${text}</td>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (letter) => ESCAPES[letter]!);
}

export interface Pasted {
  /** Inputs as typed, by row. Null where a merged cell covers others: these are not changed. */
  rows: (string | null)[][];
  /** Set if the contents were copied from a grid of this kind. */
  origin: Payload | null;
  /** Texts that start with `=` are pasted as text, which the user may change. */
  formulasAsText: boolean;
}

/**
 * Reads what was pasted. Values are those of the plain text: HTML of Excel has rounded values and `####`. The HTML only
 * says which cells are merged and which are text.
 */
export function readPaste(plain: string, html: string): Pasted {
  // DOMParser makes an inert document: nothing in it is loaded or run.
  const table = html ? new DOMParser().parseFromString(html, "text/html").querySelector("table") : null;
  const payload = table && ownPayload(table, plain);
  if (payload) return { rows: payload.inputs, origin: payload, formulasAsText: false };
  const texts = plain ? parseTsv(plain) : table ? tableTexts(table) : [];
  const shape = table ? shapeOf(table, texts) : null;
  const rows = texts.map((row, rowIndex) =>
    row.map((text, columnIndex) => {
      const kind = shape?.[rowIndex]?.[columnIndex];
      if (kind === "covered") return null;
      // A formula of another program is text until the user confirms it: it could send data elsewhere. An apostrophe at
      // the start of a text belongs to the text.
      return /^[=']/.test(text) || (kind === "text" && text !== "") ? `'${text}` : text;
    }),
  );
  return { rows, origin: null, formulasAsText: true };
}

function markOf(plain: string): string {
  return `${originKey()} ${textHash(plain)}`;
}

/** Returns the payload unless the text differs: Excel copies attributes of a pasted table along with changed cells. */
function ownPayload(table: Element, plain: string): Payload | null {
  if (table.getAttribute("data-cellar-hash") !== markOf(plain)) return null;
  try {
    const payload: unknown = JSON.parse(table.getAttribute("data-cellar") ?? "");
    return isPayload(payload) ? payload : null;
  } catch {
    return null;
  }
}

function isPayload(value: unknown): value is Payload {
  if (typeof value !== "object" || value === null) return false;
  const { row, column, inputs, isCut } = value as Partial<Record<keyof Payload, unknown>>;
  const isTable = Array.isArray(inputs) && inputs.every((line) => Array.isArray(line) && line.every((input) => typeof input === "string"));
  return Number.isInteger(row) && Number.isInteger(column) && typeof isCut === "boolean" && isTable;
}

type CellKind = "value" | "text" | "covered";

/** Returns the kinds of the cells, or null if the table has another number of cells than the text. */
function shapeOf(table: HTMLTableElement, texts: readonly (readonly string[])[]): CellKind[][] | null {
  if (table.rows.length !== texts.length) return null;
  const kinds: CellKind[][] = texts.map(() => []);
  let count = 0;
  for (const [rowIndex, row] of [...table.rows].entries()) {
    let column = 0;
    for (const cell of row.cells) {
      while (kinds[rowIndex]![column]) column++;
      const { rowSpan, colSpan } = cell;
      count += rowSpan * colSpan;
      if (count > MAX_PASTED_CELLS) return null;
      for (let y = 0; y < rowSpan && kinds[rowIndex + y]; y++) {
        for (let x = 0; x < colSpan; x++) kinds[rowIndex + y]![column + x] = y || x ? "covered" : kindOf(cell);
      }
      column += colSpan;
    }
  }
  return kinds.every((row, index) => row.length === texts[index]!.length) ? kinds : null;
}

function kindOf(cell: HTMLTableCellElement): CellKind {
  const format = cell.getAttribute("style") ?? "";
  return /mso-number-format:\s*["']?\\?@/.test(format) ? "text" : "value";
}

function tableTexts(table: HTMLTableElement): string[][] {
  return [...table.rows].map((row) =>
    [...row.cells].map((cell) => {
      const copy = cell.cloneNode(true) as HTMLElement;
      for (const line of copy.querySelectorAll("br")) line.replaceWith("\u0000");
      // Excel wraps long texts in the source, so white space collapses as in HTML; only <br> is a line break.
      const text = normalizeBreaks(copy.textContent ?? "").replace(/[ \t\n]+/g, " ");
      return text.trim().replace(/ ?\u0000 ?/g, "\n");
    }),
  );
}
