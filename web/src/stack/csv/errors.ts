/** Reasons why a file cannot be imported. */

export class ImportError extends Error {
  override readonly name = "ImportError";

  /** `command` imports the file where the page cannot. */
  constructor(readonly text: string, readonly command?: string) {
    super(command === undefined ? text : `${text} ${command}`);
  }
}

export const MAX_TEXT_BYTES = 64 * 1024;
export const MAX_COLUMNS = 32_768;
export const MAX_ROW_CHARACTERS = 4 * 1024 * 1024;

export function grouped(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Formats a count with its noun, such as `2 cells`. */
export function count(number: number, one: string, many: string): string {
  return `${grouped(number)} ${number === 1 ? one : many}`;
}

export const unclosedQuote = (line: number, column: number) =>
  new ImportError(
    `Line ${line}, column ${column}: a quoted field starts here, but has no closing quote. Write a quote inside a ` +
      'quoted field twice: "say ""hello""".',
  );

export const textAfterQuote = (line: number, column: number) =>
  new ImportError(
    `Line ${line}, column ${column}: text follows the closing quote of a field. Write a quote inside a quoted field ` +
      'twice ("say ""hello"""), or check an earlier line for a missing quote.',
  );

export const ragged = (line: number, fields: number, expected: number) =>
  new ImportError(
    `Line ${line}: the row has ${count(fields, "field", "fields")}, but the first row has ${expected}. Correct the ` +
      "line, or fill short rows with `cellar import --ragged pad FILE`.",
  );

export const textTooLong = (line: number, column: number) =>
  new ImportError(
    `Line ${line}, column ${column}: the text has more than ${MAX_TEXT_BYTES} bytes, the maximum of a cell. Shorten ` +
      "it, or check for a missing quote if it has many lines.",
  );

export const rowTooLong = (line: number) =>
  new ImportError(
    `Line ${line}: the row has more than ${MAX_ROW_CHARACTERS} characters. Split it into several rows, or check for a ` +
      "missing quote.",
  );

export const tooManyColumns = (line: number) =>
  new ImportError(
    `Line ${line}: the row has more than ${grouped(MAX_COLUMNS)} fields. Split the file by columns, or check the ` +
      "delimiter.",
  );

export const emptyFile = () => new ImportError("The file is empty: it has no cells to import.");

export const changedFile = () =>
  new ImportError("The file changed while it was read. Import it again when no program writes to it.");
