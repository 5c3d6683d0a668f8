/**
 * Imports csv and tsv files as new spreadsheets, with the results of `cellar import`. An import that failed
 * continues where it stopped if the same file is imported again; no cell is sent twice, and no second
 * spreadsheet is created.
 */

import { AbortedError, ProblemError } from "../data/api-error";
import { sleep } from "../data/backoff";
import { loadFormatter } from "../data/text";
import { readCells } from "./cells";
import { grouped, ImportError } from "./csv/errors";
import { cellsOf, survey, type OnStep, type Survey } from "./csv/csv-file";
import { readStart } from "./csv/text-input";
import { createdOf } from "./decode";
import type { StackClient } from "./http";
import { sendRepeatedly } from "./repeat";
import { deleteSpreadsheet } from "./status";
import { CellSender } from "./send-cells";
import type { Created } from "./types";

export { ImportError };

/** The caller ended the import. The message says what is left of it. */
export class ImportCancelled extends AbortedError {}

export const MAX_IMPORT_BYTES = 50 * 1024 * 1024;
export const MAX_IMPORT_CELLS = 500_000;
const MAX_NAME_BYTES = 256;

export interface ImportProgress {
  step: "reading" | "sending" | "preparing";
  done: number;
  total: number;
}

export interface Imported {
  id: string;
  rows: number;
  columns: number;
  cells: number;
  /** How the file was read, as far as it is not the usual way. */
  notes: string[];
}

export interface ImportOptions {
  signal?: AbortSignal;
  /** By default, the name of the file without its extension. */
  name?: string;
}

/** What is known of an import that has not ended. */
interface Started {
  stackUrl: string;
  nonce: string;
  sender?: CellSender;
  /** The request that creates the spreadsheet, if it was sent. */
  creation?: { nonce: string; name?: string };
  id?: string;
}

const started = new WeakMap<File, Started>();

export async function importFile(
  file: File,
  stack: StackClient,
  progress: (progress: ImportProgress) => void = () => undefined,
  { signal, name = nameOf(file) }: ImportOptions = {},
): Promise<Imported> {
  const command = commandFor(file, stack);
  await refuseOtherFiles(file, command);
  // Numbers of many digits are recognised by the text that the sheet displays.
  if (!(await loadFormatter())) throw new ImportError("The code for number formats could not be loaded. Check the connection and import again.");
  const state = stateOf(file, stack.url);
  try {
    const found = await survey(
      file,
      { delimiter: /\.(tsv|tab)$/i.test(file.name) ? "\t" : undefined, maxCells: MAX_IMPORT_CELLS, tooManyCells: () => tooManyCells(command) },
      pausing(signal, (done) => progress({ step: "reading", done, total: file.size })),
    );
    const id = await send(file, stack, { found, state, name, signal, progress });
    started.delete(file);
    return { id, rows: found.rows, columns: found.columns, cells: found.cells, notes: notesOf(found) };
  } catch (error) {
    if (!(error instanceof AbortedError)) throw error;
    throw new ImportCancelled(await discard(stack, file, state));
  }
}

function stateOf(file: File, stackUrl: string): Started {
  const known = started.get(file);
  const state = known?.stackUrl === stackUrl ? known : { stackUrl, nonce: crypto.randomUUID() };
  started.set(file, state);
  return state;
}

/** Deletes what was created. Returns what is left, as sentences. */
async function discard(stack: StackClient, file: File, { creation, id }: Started): Promise<string> {
  started.delete(file);
  if (creation === undefined) return "The import was cancelled. Nothing was created.";
  try {
    // Without a reply, it is not known whether the spreadsheet exists. The same nonce names the same one.
    await deleteSpreadsheet(stack, id ?? (await create(stack, creation)).id);
    return "The import was cancelled. Its spreadsheet was deleted.";
  } catch {
    return "The import was cancelled, but its spreadsheet could not be deleted. Delete it in the list.";
  }
}

function create(stack: StackClient, body: NonNullable<Started["creation"]>, signal?: AbortSignal): Promise<Created> {
  return sendRepeatedly(stack, { path: "/spreadsheets", body, decode: createdOf, signal });
}

/** Returns the command that imports the file into the same stack. */
function commandFor({ name }: File, { url }: StackClient): string {
  // Otherwise the name would be an option.
  const path = name.startsWith("-") ? `./${name}` : name;
  return `cellar import --url ${url} '${path.replaceAll("'", "'\\''")}'`;
}

async function refuseOtherFiles(file: File, command: string): Promise<void> {
  if (/\.(xlsx|xlsm|xlsb|xls|ods)$/i.test(file.name) || (await readStart(file)).isZip) {
    throw new ImportError(`${file.name} is a workbook, which the page does not read. Import it with:`, command);
  }
  if (file.size > MAX_IMPORT_BYTES) {
    throw new ImportError(
      `${file.name} has ${grouped(file.size)} bytes; the page imports at most ${grouped(MAX_IMPORT_BYTES)}. ` +
        "Import it with:",
      command,
    );
  }
}

function tooManyCells(command: string): ImportError {
  return new ImportError(
    `The file has more than ${grouped(MAX_IMPORT_CELLS)} cells, the most that the page imports. ` +
      "Import it with:",
    command,
  );
}

const EXTENSION = /(.)\.[^.]*$/;
const FIRST_SHEET_NAME = "Sheet1";
const MAX_SHEET_NAME_CHARACTERS = 31;

/** Converts the name of a file to one of a sheet, as `cellar import` does. */
function sheetNameFrom(text: string): string {
  const trimmed = (name: string) => name.replace(/^['\s]+|['\s]+$/gu, "");
  const characters = [...trimmed(text).replace(/[[\]:*?/\\\p{Cc}]/gu, "_")].slice(0, MAX_SHEET_NAME_CHARACTERS);
  const name = trimmed(characters.join(""));
  return name === "" ? FIRST_SHEET_NAME : name;
}

/** Returns an empty text if the name of the file is not one of a spreadsheet. */
function nameOf(file: File): string {
  const name = file.name.replace(EXTENSION, "$1");
  const isName = name.trim() === name && new TextEncoder().encode(name).length <= MAX_NAME_BYTES;
  return isName ? name : "";
}

/** Lets the page draw between the steps, and ends a cancelled import. */
function pausing(signal: AbortSignal | undefined, report: (readBytes: number) => void): OnStep {
  const PAUSE_AFTER_MS = 12;
  let sinceMs = performance.now();
  return async (readBytes) => {
    if (signal?.aborted === true) throw new AbortedError("the import was cancelled");
    if (performance.now() - sinceMs < PAUSE_AFTER_MS) return;
    report(readBytes);
    await new Promise((resolve) => setTimeout(resolve, 0));
    sinceMs = performance.now();
  };
}

interface Sending {
  found: Survey;
  state: Started;
  name: string;
  signal: AbortSignal | undefined;
  progress: (progress: ImportProgress) => void;
}

async function send(file: File, stack: StackClient, sending: Sending): Promise<string> {
  const { found, state, name, signal, progress } = sending;
  state.creation = name === "" ? { nonce: state.nonce } : { nonce: state.nonce, name };
  const created = await create(stack, state.creation, signal);
  state.id = created.id;
  const sender = (state.sender ??= new CellSender(stack, created, found.cells));
  sender.restart(stack);
  const report = (done: number) => progress({ step: "sending", done, total: found.cells });
  const onStep = pausing(signal, () => report(sender.sentCells));
  report(0);
  const sheetName = sheetNameFrom(file.name.replace(EXTENSION, "$1"));
  if (sheetName !== FIRST_SHEET_NAME) await sender.nameSheet(sheetName, signal);
  for await (const cells of cellsOf(file, found, onStep)) {
    for (const batch of sender.add(cells)) {
      await sender.send(batch, signal);
      report(sender.sentCells);
    }
  }
  await sender.send(sender.rest(), signal);
  progress({ step: "preparing", done: found.cells, total: found.cells });
  await waitUntilReadable(stack, created.id, signal);
  return created.id;
}

/** After many edits, the server refuses to read the cells until it has built a snapshot. */
async function waitUntilReadable(stack: StackClient, id: string, signal: AbortSignal | undefined): Promise<void> {
  const MAX_ATTEMPTS = 60;
  const WAIT_MS = 2_000;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    try {
      await readCells(stack, id, { range: "A1", signal }).next();
      return;
    } catch (error) {
      if (error instanceof AbortedError) throw error;
      // The cells are all there, so that any other error is not one of the import.
      if (!(error instanceof ProblemError)) return;
      await sleep(WAIT_MS, signal);
    }
  }
}

const DELIMITER_NAMES: Record<string, string> = { ";": "semicolon", "\t": "tab", "|": "vertical bar", ",": "comma" };

function notesOf({ delimiter, encoding, columns }: Survey): string[] {
  const notes: string[] = [];
  if (delimiter !== ",") notes.push(`The fields are separated by: ${DELIMITER_NAMES[delimiter] ?? delimiter}.`);
  if (encoding !== "utf-8") notes.push(`The file was read as ${encoding}, because it is not UTF-8.`);
  if (columns === 1) notes.push("The file has only one column. Check its delimiter if it should have more.");
  return notes;
}
