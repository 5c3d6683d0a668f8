/**
 * Exports a sheet as csv or tsv, with the bytes of `cellar export`. The number of columns is known
 * only after the last cell, so the cells are read twice at one position: first to measure them, then
 * to write them. Memory holds one page.
 */

import { AbortedError } from "../data/api-error";
import { displayText, loadFormatter } from "../data/text";
import { readCells } from "./cells";
import { CsvWriter } from "./csv-writer";
import { grouped } from "./csv/errors";
import type { StackClient } from "./http";
import type { PositionOrTime } from "./types";

/** Limit of `cellar export`: a cell far from the others would fill the disk with delimiters. */
export const MAX_FIELDS = 200_000_000;
/** A file that the browser cannot stream to the disk is in memory until it is saved. */
export const MAX_BLOB_BYTES = 200 * 1024 * 1024;

export class ExportError extends Error {
  override readonly name = "ExportError";
}

export interface ExportQuery {
  /** Name of the sheet. */
  sheet: string;
  delimiter: "," | "\t";
  /** Newest position by default. */
  at?: PositionOrTime | undefined;
  signal?: AbortSignal;
  progress?: (progress: { step: "measuring" | "writing"; cells: number; total?: number }) => void;
}

export interface Exported {
  rows: number;
  columns: number;
  cells: number;
  position: number;
  /** Formulas whose stored value was written, because they were not calculated. */
  staleFormulas: number;
  /** Texts that other programs may take for formulas. */
  formulaLikeTexts: number;
}

/** Takes the bytes of the file, piece by piece. */
export type Sink = (bytes: Uint8Array<ArrayBuffer>) => Promise<void>;

export async function exportSheet(stack: StackClient, id: string, query: ExportQuery, sink: Sink): Promise<Exported> {
  if (!(await loadFormatter())) throw new ExportError("The code for number formats could not be loaded. Check the connection and export again.");
  const measured = await measure(stack, id, query);
  const { rows, columns } = measured;
  if (rows * columns > MAX_FIELDS) {
    throw new ExportError(
      `The sheet has ${grouped(rows)} rows and ${grouped(columns)} columns, which is more than ${grouped(MAX_FIELDS)} ` +
        "fields with the blank ones. Delete the cells that are far from the others, or export a part with " +
        "`cellar get --range`.",
    );
  }
  await write(stack, id, query, measured, sink);
  return measured;
}

const FORMULA_START = /^[=+\-@\t\r]/;

async function measure(stack: StackClient, id: string, query: ExportQuery): Promise<Exported> {
  const found: Exported = { rows: 0, columns: 0, cells: 0, position: 0, staleFormulas: 0, formulaLikeTexts: 0 };
  const { sheet, at, signal } = query;
  for await (const page of readCells(stack, id, { sheet, at, signal })) {
    found.position = page.position;
    for (const cell of page.cells) {
      const text = displayText(cell.value, cell.format, cell.formula !== undefined);
      if (cell.stale === true) found.staleFormulas += 1;
      if (text === "") continue;
      if (typeof cell.value === "string" && FORMULA_START.test(text)) found.formulaLikeTexts += 1;
      found.rows = cell.row + 1;
      found.columns = Math.max(found.columns, cell.column + 1);
      found.cells += 1;
    }
    query.progress?.({ step: "measuring", cells: found.cells });
    await pause(signal);
  }
  return found;
}

const FLUSH_CHARACTERS = 256 * 1024;

async function write(stack: StackClient, id: string, query: ExportQuery, measured: Exported, sink: Sink): Promise<void> {
  const { sheet, signal, delimiter } = query;
  const buffer = new TextBuffer();
  const writer = new CsvWriter(delimiter, measured.columns, (text) => buffer.add(text));
  let cells = 0;
  for await (const page of readCells(stack, id, { sheet, at: measured.position, signal })) {
    for (const cell of page.cells) {
      const text = displayText(cell.value, cell.format, cell.formula !== undefined);
      if (text === "") continue;
      cells += 1;
      writer.writeCell(cell.row, cell.column, text);
      if (buffer.length >= FLUSH_CHARACTERS) await sink(buffer.take());
    }
    query.progress?.({ step: "writing", cells, total: measured.cells });
    await pause(signal);
  }
  writer.end();
  await sink(buffer.take());
}

class TextBuffer {
  #parts: string[] = [];
  length = 0;

  add(text: string): void {
    this.#parts.push(text);
    this.length += text.length;
  }

  take(): Uint8Array<ArrayBuffer> {
    const bytes = new TextEncoder().encode(this.#parts.join(""));
    this.#parts = [];
    this.length = 0;
    return bytes;
  }
}

/** Lets the page draw between the pages of cells. */
async function pause(signal: AbortSignal | undefined): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
  if (signal?.aborted === true) throw new AbortedError("the export was cancelled");
}

/** Collects a file in memory, up to a bound. */
export class BlobSink {
  readonly #parts: Uint8Array<ArrayBuffer>[] = [];
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number = MAX_BLOB_BYTES) {
    this.#maxBytes = maxBytes;
  }

  readonly write: Sink = async (bytes) => {
    this.#bytes += bytes.length;
    if (this.#bytes > this.#maxBytes) {
      throw new ExportError(
        `The file has more than ${grouped(this.#maxBytes)} bytes, the most that this browser can keep in memory. ` +
          "Export it with: cellar export FILE.csv",
      );
    }
    this.#parts.push(bytes);
  };

  blob(type: string): Blob {
    return new Blob(this.#parts, { type });
  }
}
