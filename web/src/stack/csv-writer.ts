/** Writes csv row by row, with the bytes of `cellar export` (`exchange/src/csv/write.rs`). */

import { CANDIDATES } from "./csv/delimiter";

export class OutOfOrder extends Error {
  override readonly name = "OutOfOrder";
}

/** All rows have the same number of fields. Skipped rows and cells are empty fields. */
export class CsvWriter {
  readonly #delimiter: string;
  readonly #columns: number;
  readonly #write: (text: string) => void;
  #row = 0;
  #column = 0;

  constructor(delimiter: string, columns: number, write: (text: string) => void) {
    this.#delimiter = delimiter;
    this.#columns = columns;
    this.#write = write;
  }

  /** The cells must be sorted by row and column. */
  writeCell(row: number, column: number, text: string): void {
    const isBefore = row < this.#row || (row === this.#row && column < this.#column);
    if (isBefore || column >= this.#columns) throw new OutOfOrder("the server sent cells out of order");
    while (this.#row < row) this.#endRow();
    while (this.#column < column) this.#field("");
    this.#field(text);
  }

  /** Completes the last row. */
  end(): void {
    if (this.#column > 0) this.#endRow();
  }

  #endRow(): void {
    while (this.#column < this.#columns) this.#field("");
    this.#write("\n");
    this.#row += 1;
    this.#column = 0;
  }

  #field(text: string): void {
    if (this.#column > 0) this.#write(this.#delimiter);
    this.#write(this.#needsQuotes(text) ? `"${text.replaceAll('"', '""')}"` : text);
    this.#column += 1;
  }

  #needsQuotes(text: string): boolean {
    // A single empty field is quoted, because many programs skip blank lines.
    if (text === "") return this.#columns === 1;
    // A file that started with one of these would be detected as another format.
    const isFirst = this.#row === 0 && this.#column === 0;
    if (isFirst && (text.startsWith("\ufeff") || text.startsWith("PK"))) return true;
    return CANDIDATES.some((candidate) => text.includes(candidate)) || /["\n\r]/.test(text);
  }
}
