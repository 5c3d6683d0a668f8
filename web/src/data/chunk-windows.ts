/**
 * Windows of a large sheet from the chunks of its snapshot, without a call of the API for each of
 * them. The entries after the snapshot are applied as they are to loaded blocks. The server is
 * asked for all that is not certain.
 */

import type { Api } from "./api";
import { AxisMap } from "./axis-map";
import type { Block, BlockPlace } from "./block";
import { CanonicalState } from "./canonical";
import type { ReadWindow } from "./chunks/window-reader";
import { fieldsOf, integerOf, listOf, textOf } from "./decode";
import { decodeEntry } from "./decode-operation";
import { BLOCK_COLUMNS, BLOCK_ROWS, MAX_COLUMNS, MAX_ROWS } from "./limits";
import type { BlockSource } from "./loader";
import { blocksOf, formatOf, rangeOf } from "./loaded-blocks";
import { committedOf } from "./pending";
import { axisChangeOf } from "./space-map";
import { loadFormatter, needsFormatter } from "./text";
import type { Range } from "./types";
import type { Entry, Span } from "./wire";

/** Applying more entries for each window takes longer than the server. */
const MAX_ENTRIES = 500;
/** A window that takes longer comes from the server. */
const MAX_WAIT_MS = 60;
/** More blocks than one request of a window has, since rows and columns may have moved. */
const MAX_BLOCKS = 12;
/** A newer root may have been made since. */
const RETRY_MS = 60_000;
/** What failed will hardly succeed soon. */
const RETRY_AFTER_FAILURE_MS = 600_000;

export interface ChunkRoot {
  root: string;
  rootUrl: string;
}

/** Windows at the position of a root. */
export interface WindowSource {
  readonly position: number;
  read(sheet: number, range: Range): Promise<ReadWindow | null>;
  close(): void;
}

export type OpenWindows = (root: ChunkRoot, chunkUrls: (hashes: readonly string[]) => Promise<string[]>) => Promise<WindowSource>;

interface LoadReply {
  root?: ChunkRoot;
  entries: Entry[];
  head: number;
  incarnation: number;
}

export class ChunkWindows implements BlockSource {
  #source: WindowSource | null = null;
  /** The entries after the root, without a gap, up to the newest known one. */
  #entries: Entry[] = [];
  /** The entries that were applied while a root is being opened. */
  #noted: Entry[] | null = null;
  #nextOpenMs = Number.NEGATIVE_INFINITY;
  /** How often the state had been loaded from scratch, which leaves out entries. */
  #resets = 0;
  #isClosed = false;

  constructor(
    private readonly api: Api,
    private readonly state: CanonicalState,
    private readonly openWindows: OpenWindows,
    private readonly now: () => number,
    private readonly maxWaitMs = MAX_WAIT_MS,
  ) {}

  /** Opens the newest root. Never throws: without a root, the server is asked for all windows. */
  async open(): Promise<void> {
    if (this.now() < this.#nextOpenMs) return;
    this.#nextOpenMs = this.now() + RETRY_AFTER_FAILURE_MS;
    const noted: Entry[] = [];
    this.#noted = noted;
    const { position: before, resets } = this.state;
    try {
      const reply = await this.api.get("", {}, decodeLoad);
      if (reply.root === undefined || reply.incarnation !== this.state.incarnation) return;
      const source = await this.openWindows(reply.root, (hashes) => this.api.post("/chunks", { hashes }, decodeUrls));
      if (this.#isClosed || before > reply.head) return source.close();
      this.#source?.close();
      [this.#source, this.#resets] = [source, resets];
      const later = noted.filter(({ position }) => position > reply.head);
      this.#entries = [...reply.entries.filter(({ position }) => position > source.position), ...later];
      this.#nextOpenMs = this.now() + RETRY_MS;
    } catch {
      // The bucket may be closed to this page, or its objects be of a newer format.
    } finally {
      this.#noted = null;
    }
  }

  note(entry: Entry): void {
    this.#noted?.push(entry);
    if (this.#source !== null && entry.position > this.#lastPosition) this.#entries.push(entry);
  }

  /** Returns the blocks at the position of the state. */
  async read(places: readonly BlockPlace[]): Promise<Block[] | null> {
    const source = this.#source;
    const entries = this.#entriesUntil(this.state.position);
    if (source === null || entries === null) return null;
    const late = new Promise<null>((resolve) => setTimeout(resolve, this.maxWaitMs, null));
    // What comes too late is in memory for the next windows.
    const read = this.#read(source, places, entries).catch(() => this.#giveUp());
    return Promise.race([read, late]);
  }

  async #read(source: WindowSource, places: readonly BlockPlace[], entries: readonly Entry[]): Promise<Block[] | null> {
    const sheet = places[0]?.sheet ?? 0;
    const range = earlierRange(sheet, rangeOf(places), entries);
    const found = range && (await source.read(sheet, range));
    if (range === null || found === null) return null;
    if (found.cells.some((cell) => needsFormatter(cell.value, formatOf(cell, found.formats)))) await loadFormatter();
    const replay = new CanonicalState();
    replay.sheets = [{ sheet, name: "", extent: found.extent }];
    for (const block of blocksOf(placesOf(sheet, range), found)) replay.cache.put(block);
    for (const entry of entries) replay.apply(entry);
    const blocks = places.flatMap((place) => replay.cache.block(place) ?? []);
    const isCertain = (block: Block) => block.isComplete() && !block.isOutdated;
    return blocks.length === places.length && blocks.every(isCertain) ? blocks : null;
  }

  /** Returns the entries from the root to `position`, or null if they are not known or too many. */
  #entriesUntil(position: number): Entry[] | null {
    const entries = this.#entries.filter((entry) => entry.position <= position);
    const last = entries.at(-1)?.position ?? this.#source?.position;
    const isKnown = last === position && this.#resets === this.state.resets;
    if (isKnown && this.#entries.length <= MAX_ENTRIES) return entries;
    void this.open();
    return null;
  }

  get #lastPosition(): number {
    return this.#entries.at(-1)?.position ?? this.#source?.position ?? 0;
  }

  #giveUp(): null {
    this.#source?.close();
    this.#source = null;
    this.#nextOpenMs = this.now() + RETRY_AFTER_FAILURE_MS;
    return null;
  }

  close(): void {
    this.#isClosed = true;
    this.#giveUp();
  }
}

function decodeUrls(value: unknown): string[] {
  return listOf(fieldsOf(value, "the URLs of chunks").urls, "urls", (url) => textOf(url, "a URL"));
}

function decodeLoad(value: unknown): LoadReply {
  const fields = fieldsOf(value, "the load of a spreadsheet");
  const entries = fields.next === undefined || fields.next === null ? listOf(fields.entries, "entries", decodeEntry) : null;
  const reply = {
    entries: entries ?? [],
    head: integerOf(fields.head, "head"),
    incarnation: integerOf(fields.incarnation, "incarnation"),
  };
  // Without all entries, the root is of no use.
  if (entries === null || typeof fields.root !== "string") return reply;
  return { ...reply, root: { root: fields.root, rootUrl: textOf(fields.root_url, "the URL of a root") } };
}

/** Returns the whole blocks that had the cells of `range` before the entries, or null if they are too many. */
function earlierRange(sheet: number, range: Range, entries: readonly Entry[]): Range | null {
  let [rows, columns] = [AxisMap.identity(MAX_ROWS), AxisMap.identity(MAX_COLUMNS)];
  for (const operation of entries.flatMap((entry) => entry.mutations.flatMap(committedOf))) {
    const change = axisChangeOf(operation);
    if (change?.sheet !== sheet) continue;
    if (change.axis === "rows") rows = rows.then(change.map);
    else columns = columns.then(change.map);
  }
  const rowBlocks = earlierBlocks(rows, { first: range.firstRow, count: range.rowCount }, BLOCK_ROWS);
  const columnBlocks = earlierBlocks(columns, { first: range.firstColumn, count: range.columnCount }, BLOCK_COLUMNS);
  if (rowBlocks === null || columnBlocks === null || (rowBlocks.count / BLOCK_ROWS) * (columnBlocks.count / BLOCK_COLUMNS) > MAX_BLOCKS) return null;
  return { firstRow: rowBlocks.first, rowCount: rowBlocks.count, firstColumn: columnBlocks.first, columnCount: columnBlocks.count };
}

function earlierBlocks(map: AxisMap, span: Span, size: number): Span | null {
  const spans = map.reversed().keptSpans([span]);
  const [start, last] = [spans[0], spans.at(-1)];
  if (start === undefined || last === undefined) return null;
  const first = Math.floor(start.first / size) * size;
  return { first, count: Math.ceil((last.first + last.count - first) / size) * size };
}

function placesOf(sheet: number, range: Range): BlockPlace[] {
  const places: BlockPlace[] = [];
  for (let row = range.firstRow; row < range.firstRow + range.rowCount; row += BLOCK_ROWS) {
    for (let column = range.firstColumn; column < range.firstColumn + range.columnCount; column += BLOCK_COLUMNS) {
      places.push({ sheet, rowBlock: row / BLOCK_ROWS, columnBlock: column / BLOCK_COLUMNS });
    }
  }
  return places;
}
