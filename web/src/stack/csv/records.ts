/**
 * Splits csv into records and fields, piece by piece, by the strict rules of `cellar import`
 * (`exchange/src/csv/records.rs`): an unmatched quote is an error with its position, and never turns
 * the rest of the file into one field.
 */

import { MAX_COLUMNS, MAX_ROW_CHARACTERS, MAX_TEXT_BYTES } from "./errors";
import { rowTooLong, textAfterQuote, textTooLong, tooManyColumns, unclosedQuote } from "./errors";

export interface CsvRecord {
  /** Without enclosing quotes. */
  fields: string[];
  /** Number of the line on which the record starts, from 1. */
  line: number;
  /** Number of blank lines between the previous record and this one. */
  blankLines: number;
}

export class RecordReader {
  readonly #delimiter: string;
  #text = "";
  #start = 0;
  #isAtEnd = false;
  #line = 1;
  /** Whether the last record ended with a line feed. If not, the file may not contain any. */
  #usesLineFeeds = true;

  constructor(delimiter: string) {
    this.#delimiter = delimiter;
  }

  /** Adds text. After the last text, call `end`. */
  add(text: string): void {
    this.#text = this.#text.slice(this.#start) + text;
    this.#start = 0;
  }

  end(): void {
    this.#isAtEnd = true;
  }

  /** Returns null if more text is needed, or at the end. */
  next(): CsvRecord | null {
    const before = { start: this.#start, line: this.#line };
    const blankLines = this.#skipBlankLines();
    const record = this.#start >= this.#text.length ? null : (this.#plainRecord() ?? this.#scanRecord());
    if (record === null) {
      if (this.#text.length - this.#start > MAX_ROW_CHARACTERS) throw rowTooLong(this.#line);
      // Blank lines are counted again when the rest of the record is there.
      this.#start = before.start;
      this.#line = before.line;
      return null;
    }
    checkLengths(record, this.#line);
    const line = this.#line;
    this.#line += countLineFeeds(this.#text, this.#start, record.end);
    this.#usesLineFeeds = this.#text[record.end - 1] === "\n";
    this.#start = record.end;
    return { fields: record.fields, line, blankLines };
  }

  #skipBlankLines(): number {
    for (let blankLines = 0; ; blankLines += 1) {
      const first = this.#text[this.#start];
      if (first !== "\n" && first !== "\r") return blankLines;
      const isLineEndCut = first === "\r" && this.#start + 1 === this.#text.length && !this.#isAtEnd;
      if (isLineEndCut) return blankLines;
      const isPair = first === "\r" && this.#text[this.#start + 1] === "\n";
      if (first === "\n" || isPair) this.#line += 1;
      this.#start += isPair ? 2 : 1;
    }
  }

  /** Returns null if the line may contain quoted fields, or ends otherwise than with a line feed. */
  #plainRecord(): Found | null {
    if (!this.#usesLineFeeds) return null;
    const lineEnd = this.#text.indexOf("\n", this.#start);
    if (lineEnd < 0) return null;
    const end = this.#text[lineEnd - 1] === "\r" && lineEnd > this.#start ? lineEnd - 1 : lineEnd;
    const line = this.#text.slice(this.#start, end);
    if (line.includes('"') || line.includes("\r")) return null;
    return { fields: line.split(this.#delimiter), end: lineEnd + 1 };
  }

  #scanRecord(): Found | null {
    const fields: string[] = [];
    let start = this.#start;
    for (;;) {
      const isQuoted = this.#text[start] === '"';
      const field = isQuoted ? this.#quotedField(start, fields.length + 1) : this.#plainField(start);
      if (field === null) return null;
      fields.push(field.text);
      const separator = this.#text[field.end];
      if (separator === "\r" && field.end + 1 === this.#text.length && !this.#isAtEnd) return null;
      if (separator === this.#delimiter && fields.length <= MAX_COLUMNS) {
        start = field.end + 1;
        continue;
      }
      const isPair = separator === "\r" && this.#text[field.end + 1] === "\n";
      const separatorLength = separator === undefined ? 0 : isPair ? 2 : 1;
      return { fields, end: field.end + separatorLength };
    }
  }

  #plainField(start: number): Field | null {
    for (let end = start; end < this.#text.length; end += 1) {
      const character = this.#text[end];
      if (character === this.#delimiter || character === "\n" || character === "\r") {
        return { text: this.#text.slice(start, end), end };
      }
    }
    return this.#isAtEnd ? { text: this.#text.slice(start), end: this.#text.length } : null;
  }

  #quotedField(openingQuote: number, column: number): Field | null {
    let hasDoubledQuotes = false;
    let search = openingQuote + 1;
    for (;;) {
      const quote = this.#text.indexOf('"', search);
      if (quote < 0) {
        if (this.#isAtEnd) throw unclosedQuote(this.#lineAt(openingQuote), column);
        return null;
      }
      const after = this.#text[quote + 1];
      if (after === '"') {
        hasDoubledQuotes = true;
        search = quote + 2;
        continue;
      }
      if (after === undefined && !this.#isAtEnd) return null;
      const endsField = after === undefined || after === this.#delimiter || after === "\n" || after === "\r";
      if (!endsField) throw textAfterQuote(this.#lineAt(quote + 1), column);
      const text = this.#text.slice(openingQuote + 1, quote);
      return { text: hasDoubledQuotes ? text.replaceAll('""', '"') : text, end: quote + 1 };
    }
  }

  #lineAt(index: number): number {
    return this.#line + countLineFeeds(this.#text, this.#start, index);
  }
}

interface Found {
  fields: string[];
  end: number;
}

interface Field {
  text: string;
  /** Index of the delimiter or line end. */
  end: number;
}

function countLineFeeds(text: string, start: number, end: number): number {
  let feeds = 0;
  for (let at = text.indexOf("\n", start); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) feeds += 1;
  return feeds;
}

const MAX_BYTES_PER_CODE_UNIT = 3;

function checkLengths({ fields }: Found, line: number): void {
  if (fields.length > MAX_COLUMNS) throw tooManyColumns(line);
  fields.forEach((field, index) => {
    if (field.length * MAX_BYTES_PER_CODE_UNIT <= MAX_TEXT_BYTES) return;
    if (new TextEncoder().encode(field).length > MAX_TEXT_BYTES) throw textTooLong(line, index + 1);
  });
}
