/**
 * Sends many cells as batches with consecutive mutation ids, so that a repeated batch changes nothing
 * more. A few cells are uploaded as one object. More are sent in requests, because the server does not
 * count objects when it decides about the next snapshot: without one, it refuses to read a large import.
 */

import { ProblemError, UnreachableError } from "../data/api-error";
import { MalformedReply } from "../data/decode";
import { encodeBody, MAX_CELLS_PER_OPERATION } from "./csv/body";
import type { FileCell } from "./csv/csv-file";
import { ImportError } from "./csv/errors";
import { appendResultOf, uploadGrantOf } from "./decode-cells";
import { spreadsheetPath, type StackClient } from "./http";
import { sendRepeatedly } from "./repeat";
import type { AppendResult, Created, UploadGrant } from "./types";

/** Number of the sheet of a new spreadsheet. */
const SHEET = 0;
const MAX_CELLS_PER_BATCH = 20_000;
/** Half the limit of an object, because the size of a cell is estimated. */
const BATCH_BYTES = 4 * 1024 * 1024;
const CELL_BYTES = 16;
const MAX_BYTES_PER_CODE_UNIT = 3;
/** Well below the limits of a mutation (256 KB) and a request (1 MB). */
const MUTATION_BYTES = 160 * 1024;
const MUTATIONS_PER_REQUEST = 4;

type Batch = readonly FileCell[];

/** The stacks whose buckets do not accept requests of this page. Each attempt would write an error to the console. */
const refusingStacks = new Set<string>();

export class CellSender {
  #stack: StackClient;
  readonly #spreadsheet: Created;
  readonly #clientId = `page-${crypto.randomUUID()}`;
  #usesObjects: boolean;
  #base: number;
  #nextId = 1;
  #sentBatches = 0;
  #sentCells = 0;
  #batchIndex = 0;
  #batch: FileCell[] = [];
  #batchBytes = 0;

  constructor(stack: StackClient, spreadsheet: Created, cells: number) {
    this.#stack = stack;
    // Web Crypto exists in secure contexts only.
    const canHash = (crypto.subtle as SubtleCrypto | undefined) !== undefined;
    this.#usesObjects = canHash && cells <= MAX_CELLS_PER_BATCH && !refusingStacks.has(stack.url);
    this.#spreadsheet = spreadsheet;
    this.#base = spreadsheet.head;
  }

  get sentCells(): number {
    return this.#sentCells;
  }

  /** Begins with the first cell again. Batches that were sent are then skipped. */
  restart(stack: StackClient): void {
    this.#stack = stack;
    this.#batchIndex = 0;
    this.#batch = [];
    this.#batchBytes = 0;
  }

  /** Adds cells, and returns the batches that are full. Equal cells give equal batches. */
  add(cells: readonly FileCell[]): Batch[] {
    const full: Batch[] = [];
    for (const cell of cells) {
      const bytes = estimatedBytes(cell);
      if (this.#batch.length >= MAX_CELLS_PER_BATCH || this.#batchBytes + bytes > BATCH_BYTES) full.push(this.rest());
      this.#batch.push(cell);
      this.#batchBytes += bytes;
    }
    return full;
  }

  /** Returns the cells that are in no batch yet. */
  rest(): Batch {
    const batch = this.#batch;
    this.#batch = [];
    this.#batchBytes = 0;
    return batch;
  }

  /** Names the sheet, before the first batch. */
  async nameSheet(name: string, signal?: AbortSignal): Promise<void> {
    if (this.#nextId > 1) return;
    await this.#appendMutations([{ renameSheet: { sheet: SHEET, name } }], signal);
  }

  async send(batch: Batch, signal?: AbortSignal): Promise<void> {
    if (batch.length === 0) return;
    this.#batchIndex += 1;
    if (this.#batchIndex <= this.#sentBatches) return;
    if (this.#usesObjects) await this.#upload(batch, signal);
    else await this.#append(batch, signal);
    this.#sentBatches += 1;
    this.#sentCells += batch.length;
  }

  async #upload(batch: Batch, signal: AbortSignal | undefined): Promise<void> {
    const { object, count } = encodeBody(SHEET, batch);
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", object));
    const sha256 = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    const path = spreadsheetPath(this.#spreadsheet.id, "/uploads");
    const body = { bytes: object.length, sha256 };
    const grant = await sendRepeatedly(this.#stack, { path, body, decode: uploadGrantOf, signal });
    const refusal = await put(grant, object, signal);
    const completion = { ...body, ...this.#identity(), base: this.#base, first_id: this.#nextId };
    const completePath = `${path}/${encodeURIComponent(grant.uploadId)}/complete`;
    try {
      const request = { path: completePath, body: completion, decode: appendResultOf, signal };
      this.#commit(await sendRepeatedly(this.#stack, request), count);
    } catch (error) {
      const isMissing = error instanceof ProblemError && error.problem === "invalid-upload";
      if (!isMissing || refusal === null) throw error;
      // The bucket may not accept requests of this page. Requests to the stack work as before.
      if (this.#sentBatches > 0) throw refusal;
      this.#usesObjects = false;
      refusingStacks.add(this.#stack.url);
      await this.#append(batch, signal);
    }
  }

  async #append(batch: Batch, signal: AbortSignal | undefined): Promise<void> {
    const operations = operationsOf(batch);
    for (let first = 0; first < operations.length; first += MUTATIONS_PER_REQUEST) {
      const sent = operations.slice(first, first + MUTATIONS_PER_REQUEST);
      await this.#appendMutations(sent.map((cells) => ({ setCells: { sheet: SHEET, cells } })), signal);
    }
  }

  async #appendMutations(operations: readonly object[], signal: AbortSignal | undefined): Promise<void> {
    const mutations = operations.map((op, index) => ({ id: this.#nextId + index, base: this.#base, op }));
    const path = spreadsheetPath(this.#spreadsheet.id, "/entries");
    const body = { ...this.#identity(), mutations };
    const reply = await sendRepeatedly(this.#stack, { path, body, decode: appendResultOf, signal });
    this.#commit(reply, mutations.length);
  }

  #identity() {
    const { incarnation } = this.#spreadsheet;
    return { client_id: this.#clientId, incarnation, acked_id: this.#nextId - 1 };
  }

  #commit({ results, head }: AppendResult, count: number): void {
    if (results.length !== count) throw new MalformedReply("the reply has not one result for each mutation");
    const rejection = results.find((result) => result.status === "rejected")?.rejection;
    if (rejection !== undefined) throw new ImportError(`The server rejected cells of the file: ${rejection.detail}`);
    this.#base = head;
    this.#nextId += count;
  }
}

function estimatedBytes({ value }: FileCell): number {
  return CELL_BYTES + (typeof value === "string" ? value.length * MAX_BYTES_PER_CODE_UNIT : 0);
}

/** Returns the error if the object was not stored for certain; the stack knows whether it was. */
async function put(
  grant: UploadGrant,
  object: Uint8Array<ArrayBuffer>,
  signal: AbortSignal | undefined,
): Promise<Error | null> {
  try {
    const response = await fetch(grant.url, {
      method: grant.method,
      // The browser sets the length itself, and refuses to let a page set it.
      headers: Object.fromEntries(Object.entries(grant.headers).filter(([name]) => name.toLowerCase() !== "content-length")),
      body: object,
      credentials: "omit",
      referrerPolicy: "no-referrer",
      ...(signal === undefined ? {} : { signal }),
    });
    return response.ok ? null : new UnreachableError(`the upload was refused with status ${response.status}`);
  } catch (error) {
    return new UnreachableError(`the upload failed: ${error instanceof Error ? error.message : "unknown"}`);
  }
}

function operationsOf(cells: Batch): Batch[] {
  const operations: FileCell[][] = [[]];
  let bytes = 0;
  for (const cell of cells) {
    const cellBytes = new TextEncoder().encode(JSON.stringify(cell)).length + 1;
    const current = operations.at(-1) ?? [];
    const isFull = bytes + cellBytes > MUTATION_BYTES || current.length >= MAX_CELLS_PER_OPERATION;
    if (isFull && current.length > 0) {
      operations.push([cell]);
      bytes = cellBytes;
    } else {
      current.push(cell);
      bytes += cellBytes;
    }
  }
  return operations;
}
