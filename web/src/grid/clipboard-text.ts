/** Returns rows as tab-separated text. A single cell is not quoted: users paste it into text fields. */
export function serializeTsv(rows: readonly (readonly string[])[]): string {
  if (rows.length === 1 && rows[0]!.length === 1) return rows[0]![0]!;
  return rows.map((row) => row.map(quoted).join("\t")).join("\n");
}

function quoted(text: string): string {
  return /[\t\n\r"]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/**
 * Parses tab-separated text of other programs. Excel ends the text with a line break, which is not a row.
 *
 * A quote opens a quoted cell only if a closing quote precedes a tab, a line break or the end.
 */
export function parseTsv(text: string): string[][] {
  const source = normalizeBreaks(text).replace(/\n$/, "");
  const rows: string[][] = [[]];
  let at = 0;
  for (;;) {
    const [cell, end] = readCell(source, at);
    rows[rows.length - 1]!.push(cell);
    if (end >= source.length) return rows;
    if (source[end] === "\n") rows.push([]);
    at = end + 1;
  }
}

// Sticky, so that a long text is not copied for each of its cells.
const PLAIN_CELL = /[^\t\n]*/y;

function readCell(source: string, at: number): [string, number] {
  const end = source[at] === '"' ? quotedEnd(source, at) : -1;
  if (end > 0) return [source.slice(at + 1, end - 1).replace(/""/g, '"'), end];
  PLAIN_CELL.lastIndex = at;
  const length = PLAIN_CELL.exec(source)![0].length;
  return [source.slice(at, at + length), at + length];
}

/** Returns the end of a quoted cell, or -1. Not by an expression: those have no room for a long cell. */
function quotedEnd(source: string, start: number): number {
  let quote = source.indexOf('"', start + 1);
  while (quote >= 0 && source[quote + 1] === '"') quote = source.indexOf('"', quote + 2);
  return quote >= 0 && /[\t\n]|^$/.test(source.charAt(quote + 1)) ? quote + 1 : -1;
}

export function normalizeBreaks(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

/** Returns a hash that detects a changed text. FNV-1a of 32 bits, not for secrets. */
export function textHash(text: string): string {
  let hash = 0x811c9dc5;
  const source = normalizeBreaks(text).replace(/\n$/, "");
  for (let index = 0; index < source.length; index++) {
    hash = Math.imul(hash ^ source.charCodeAt(index), 0x01000193);
  }
  return `${(hash >>> 0).toString(16)}-${source.length}`;
}
