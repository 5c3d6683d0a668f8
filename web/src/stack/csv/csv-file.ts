/**
 * Reads a csv file in two passes, as `cellar import` does: the survey counts rows and detects the
 * types of columns, and the second pass yields the cells. At most a piece of the file is in memory.
 */

import type { CellValue } from "../../data/types";
import { Evidence, typedField, type ColumnType } from "./column-types";
import { changedFile, emptyFile, ImportError, ragged } from "./errors";
import { RecordReader, type CsvRecord } from "./records";
import { delimiterOf, NotInEncoding, readStart, textOf, type Encoding } from "./text-input";

export interface FileCell {
  row: number;
  column: number;
  value: CellValue;
  format?: string;
}

export interface Survey {
  rows: number;
  columns: number;
  cells: number;
  /** The first row with a field that is not empty. It may contain headings. */
  firstRow: number;
  types: ColumnType[];
  delimiter: string;
  encoding: Encoding;
  markBytes: number;
}

/** Called now and then, so that the page stays responsive. May throw to end the import. */
export type OnStep = (readBytes: number) => Promise<void>;

interface Syntax {
  delimiter: string;
  encoding: Encoding;
  markBytes: number;
}

/** Yields the records of a file with their rows. */
async function* recordsOf(
  file: Blob,
  syntax: Syntax,
  onStep: OnStep,
): AsyncGenerator<{ row: number; fields: string[] }[], void, void> {
  const reader = new RecordReader(syntax.delimiter);
  const rows = new RowCounter();
  let readBytes = syntax.markBytes;
  for await (const { text, bytes } of textOf(file, syntax)) {
    readBytes += bytes;
    reader.add(text);
    yield* slicesOf(reader, rows, () => onStep(readBytes));
  }
  reader.end();
  yield* slicesOf(reader, rows, () => onStep(readBytes));
}

const RECORDS_PER_SLICE = 2_000;

async function* slicesOf(
  reader: RecordReader,
  rows: RowCounter,
  pause: () => Promise<void>,
): AsyncGenerator<{ row: number; fields: string[] }[], void, void> {
  for (;;) {
    const slice: { row: number; fields: string[] }[] = [];
    for (let record = reader.next(); record !== null; record = reader.next()) {
      slice.push({ row: rows.add(record), fields: record.fields });
      if (slice.length >= RECORDS_PER_SLICE) break;
    }
    if (slice.length > 0) yield slice;
    await pause();
    if (slice.length < RECORDS_PER_SLICE) return;
  }
}

/** In a file with a single column, a blank line is an empty row. Otherwise it is ignored. */
class RowCounter {
  #rows = 0;
  #firstRowFields: number | null = null;

  add({ fields, line, blankLines }: CsvRecord): number {
    this.#firstRowFields ??= fields.length;
    if (fields.length !== this.#firstRowFields) throw ragged(line, fields.length, this.#firstRowFields);
    if (fields.length === 1) this.#rows += blankLines;
    this.#rows += 1;
    return this.#rows - 1;
  }
}

export interface SurveyOptions {
  /** Detected if absent. */
  delimiter?: string | undefined;
  maxCells: number;
  tooManyCells: () => ImportError;
}

/** Reads the whole file once. Text that is not UTF-8 is read again as Windows-1252. */
export async function survey(file: Blob, options: SurveyOptions, onStep: OnStep): Promise<Survey> {
  const start = await readStart(file);
  try {
    return await surveyIn(file, start.encoding, start.markBytes, options, onStep);
  } catch (error) {
    if (!(error instanceof NotInEncoding)) throw error;
    if (start.markBytes > 0) throw new ImportError(`The file is not ${start.encoding} text, as its first bytes say.`);
    return surveyIn(file, "windows-1252", 0, options, onStep);
  }
}

async function surveyIn(
  file: Blob,
  encoding: Encoding,
  markBytes: number,
  { delimiter: chosen, maxCells, tooManyCells }: SurveyOptions,
  onStep: OnStep,
): Promise<Survey> {
  const delimiter = chosen ?? (await delimiterOf(file, { encoding, markBytes }));
  const evidence: Evidence[] = [];
  let rows = 0;
  let cells = 0;
  let firstRow = -1;
  for await (const slice of recordsOf(file, { delimiter, encoding, markBytes }, onStep)) {
    for (const { row, fields } of slice) {
      rows = row + 1;
      while (evidence.length < fields.length) evidence.push(new Evidence());
      fields.forEach((field, column) => {
        if (field === "") return;
        cells += 1;
        if (firstRow < 0) firstRow = row;
        evidence[column]?.examine(field, row === firstRow);
      });
    }
    if (cells > maxCells) throw tooManyCells();
  }
  if (firstRow < 0) throw emptyFile();
  const types = evidence.map((column) => column.type());
  return { rows, columns: evidence.length, cells, firstRow, types, delimiter, encoding, markBytes };
}

/** Yields the cells in slices, from top to bottom and left to right. */
export async function* cellsOf(file: Blob, found: Survey, onStep: OnStep): AsyncGenerator<FileCell[], void, void> {
  let cellCount = 0;
  for await (const slice of recordsOf(file, found, onStep)) {
    const cells: FileCell[] = [];
    for (const { row, fields } of slice) {
      fields.forEach((field, column) => {
        const type = found.types[column];
        if (field === "") return;
        if (type === undefined) throw changedFile();
        cells.push({ row, column, ...typedField(field, type, row === found.firstRow) });
      });
    }
    cellCount += cells.length;
    yield cells;
  }
  if (cellCount !== found.cells) throw changedFile();
}
