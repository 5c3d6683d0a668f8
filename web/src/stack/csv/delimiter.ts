/**
 * Detects the delimiter of a csv file from its start, by the rules of `cellar import`
 * (`exchange/src/csv/delimiter.rs`). A delimiter qualifies if it splits nearly all rows into as many
 * fields as the first row, and the first row into at least two.
 */

/** Number of bytes at the start of the file that are examined. */
export const SAMPLE_BYTES = 64 * 1024;
/** Delimiters that can be detected, in order of preference. */
export const CANDIDATES = [",", ";", "\t", "|"] as const;
const CANDIDATE_CODES = CANDIDATES.map((candidate) => candidate.charCodeAt(0));
const DEFAULT = ",";
/** Share of the rows that must have as many fields as the first row. */
const MIN_MATCHING_PERCENT = 90;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;

/** Returns a comma in doubt. `isWholeFile` says whether the last row of the sample is complete. */
export function detectDelimiter(sample: Uint8Array, isWholeFile: boolean): string {
  let best: { fit: number[]; delimiter: string } | null = null;
  for (const delimiter of CANDIDATES) {
    const fit = new Rows(sample, delimiter.charCodeAt(0), isWholeFile).fit();
    if (fit !== null && (best === null || isBetter(fit, best.fit))) best = { fit, delimiter };
  }
  return best?.delimiter ?? DEFAULT;
}

function isBetter(fit: number[], other: number[]): boolean {
  const index = fit.findIndex((part, at) => part !== other[at]);
  return index >= 0 && (fit[index] ?? 0) > (other[index] ?? 0);
}

/** Counts the rows of the sample for one delimiter. */
class Rows {
  #rows = 0;
  /** Rows with as many fields as the first row. */
  #matchingRows = 0;
  #firstRowFields = 0;
  /** Whether some delimiters cannot be part of a text or number. */
  #isClear = false;

  constructor(sample: Uint8Array, delimiter: number, isWholeFile: boolean) {
    let row = new Row();
    for (let index = 0; index < sample.length; index += 1) {
      const byte = sample[index] ?? 0;
      if (!row.inQuotes && (byte === LINE_FEED || byte === CARRIAGE_RETURN)) {
        this.#add(row);
        row = new Row();
        continue;
      }
      if (!row.inQuotes && byte === delimiter) {
        this.#isClear ||= isClearDelimiter(sample, index);
        row.delimiters += 1;
      }
      row.addByte(byte);
    }
    if (isWholeFile || this.#rows === 0) this.#add(row);
  }

  /** Ignores a blank line. */
  #add(row: Row): void {
    if (row.bytes === 0) return;
    const fields = row.delimiters + 1;
    if (this.#rows === 0) this.#firstRowFields = fields;
    this.#rows += 1;
    if (fields === this.#firstRowFields) this.#matchingRows += 1;
  }

  /** A greater list is a better fit. */
  fit(): number[] | null {
    if (this.#rows === 0 || this.#firstRowFields < 2) return null;
    const matchingPercent = Math.floor((this.#matchingRows * 100) / this.#rows);
    if (matchingPercent < MIN_MATCHING_PERCENT) return null;
    return [matchingPercent, this.#isClear ? 1 : 0, this.#firstRowFields];
  }
}

/** The part of a row before a byte. Delimiters within quotes do not count. */
class Row {
  bytes = 0;
  delimiters = 0;
  inQuotes = false;
  #inField = false;
  #isQuotedField = false;

  addByte(byte: number): void {
    this.bytes += 1;
    if (!this.inQuotes && CANDIDATE_CODES.includes(byte)) {
      this.#inField = false;
      this.#isQuotedField = false;
      return;
    }
    this.#isQuotedField ||= byte === QUOTE && !this.#inField;
    this.#inField = true;
    // A doubled quote ends the quoted text and starts it again.
    if (byte === QUOTE && this.#isQuotedField) this.inQuotes = !this.inQuotes;
  }
}

/** A comma before a space, or between two digits, may be part of a text or number. */
function isClearDelimiter(sample: Uint8Array, index: number): boolean {
  const after = sample[index + 1];
  const isBetweenDigits = isDigit(sample[index - 1]) && isDigit(after);
  return sample[index] !== COMMA || !(after === SPACE || isBetweenDigits);
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 48 && byte <= 57;
}
