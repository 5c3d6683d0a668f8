/**
 * Reads windows from a root and its chunks, without a call of a function. Load this module when the
 * first cells are shown. Later entries of the log are applied by the caller.
 */

import { withoutAbsent } from "../decode";
import type { Extent } from "../types";
import type { RangeFormat, WireCell } from "../wire";
import { FormatError, malformed } from "./format-error";
import { readIndex, type IndexObject } from "./index-object";
import { formatsOf, windowOf, type WindowCell, type WindowRange } from "./merge";
import type { LoadedObjects, MissingObject } from "./level-tiles";
import { ObjectStore, type ChunkPort, type ObjectCache } from "./object-store";
import { RecentMap } from "./recent-map";
import { readRoot, type Root, type RootSheet } from "./root";
import { ROOT } from "./stored";
import { utf8 } from "./texts";
import { readTile, type Tile } from "./tile";
import type { LongText } from "./values";

export { cacheStorage } from "./cache-storage";
export { download } from "./download";
export { FormatError, type ChunkPort, type ObjectCache };

/** A tile has up to 262,144 cells. */
const MAX_TILES_IN_MEMORY = 12;
const MAX_INDEXES_IN_MEMORY = 64;
/** A window needs a list of parts, a part, a list of tiles and a tile; each level may need its moves before. */
const MAX_ROUNDS = 160;
const MAX_LONG_TEXTS = 200;

export interface WindowReaderOptions {
  port: ChunkPort;
  cache?: ObjectCache | undefined;
  /** Key and URL of the root, as `GET /v1/spreadsheets/{id}` returns them. The key ends with the hash. */
  root: string;
  rootUrl: string;
}

/** The cells of a window at the root's position, like a reply of `GET …/cells`. */
export interface ReadWindow {
  sheet: number;
  position: number;
  extent: Extent;
  cells: WireCell[];
  /** Oldest first. The newest one that contains a cell applies, unless it has a format of its own. */
  formats: RangeFormat[];
}

export class WindowReader {
  readonly #indexes = new RecentMap<IndexObject>(MAX_INDEXES_IN_MEMORY);
  readonly #tiles = new RecentMap<Tile>(MAX_TILES_IN_MEMORY);
  readonly #texts = new RecentMap<string>(MAX_LONG_TEXTS);
  #runningReads = 0;
  readonly #store: ObjectStore;

  private constructor(
    readonly root: Root,
    store: ObjectStore,
  ) {
    this.#store = store;
  }

  static async open({ port, cache, root, rootUrl }: WindowReaderOptions, signal?: AbortSignal): Promise<WindowReader> {
    const store = new ObjectStore(port, cache);
    return new WindowReader(readRoot(await store.object(root.split("/").at(-1) ?? "", rootUrl, ROOT, signal)), store);
  }

  get position(): number {
    return this.root.position;
  }

  sheet(sheet: number): RootSheet | undefined {
    return this.root.sheets.find((found) => found.sheet === sheet);
  }

  /**
   * Reads a window. Returns null if the server must be asked: the root does not have the sheet, or
   * the window has formulas, whose values only a calculation knows for certain.
   */
  async read(sheet: number, range: WindowRange, signal?: AbortSignal): Promise<ReadWindow | null> {
    this.#runningReads += 1;
    try {
      return await this.#read(sheet, range, signal);
    } finally {
      this.#runningReads -= 1;
      // Another read may still need what it has loaded.
      if (this.#runningReads === 0) for (const map of [this.#indexes, this.#tiles, this.#texts]) map.trim();
    }
  }

  async #read(sheet: number, range: WindowRange, signal?: AbortSignal): Promise<ReadWindow | null> {
    const found = this.sheet(sheet);
    if (found === undefined || this.#mayFill(sheet)) return null;
    const [cells, formats] = await Promise.all([this.#cells(sheet, range, signal), this.#formats(sheet, signal)]);
    if (cells.some(({ formula }) => formula !== undefined)) return null;
    const shown = await this.#wireCells(cells, signal);
    if (shown === null) return null;
    return { sheet, position: this.position, extent: found.extent, cells: shown, formats: formats.filter((format) => meets(format, range)) };
  }

  /** Returns whether results of formulas may fill cells that have no value of their own. */
  #mayFill(sheet: number): boolean {
    const SEVERAL_CELLS = 512;
    const levels = this.root.levels.flatMap((level) => level.sheets.filter((found) => found.sheet === sheet));
    const mayFill = (level: (typeof levels)[number]) =>
      level.formulas === undefined || (level.formulas > 0 && (level.reads === undefined || (level.reads.facts & SEVERAL_CELLS) !== 0));
    return levels.some(mayFill);
  }

  async #cells(sheet: number, range: WindowRange, signal?: AbortSignal): Promise<WindowCell[]> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const outcome = windowOf(this.root.levels, sheet, range, this.#loaded());
      if (outcome.kind === "cells") return outcome.cells;
      await this.#load(outcome.missing, signal);
    }
    throw malformed(`a window needs more than ${MAX_ROUNDS} rounds of chunks`);
  }

  async #formats(sheet: number, signal?: AbortSignal): Promise<RangeFormat[]> {
    const found = formatsOf(this.root, sheet, this.#loaded()) ?? [];
    if (!isMissing(found)) return found;
    await this.#load(found, signal);
    const loaded = formatsOf(this.root, sheet, this.#loaded()) ?? [];
    if (isMissing(loaded)) throw malformed("chunks of formats do not stay loaded");
    return loaded;
  }

  #loaded(): LoadedObjects {
    return { index: (hash) => this.#indexes.get(hash), tile: (hash) => this.#tiles.get(hash) };
  }

  async #load(missing: readonly MissingObject[], signal?: AbortSignal): Promise<void> {
    const kinds = new Map(missing.map(({ chunk, kind }) => [chunk.hash, kind]));
    // One window may need more objects than usually stay in memory.
    this.#tiles.makeRoom(missing.length);
    this.#indexes.makeRoom(missing.length);
    for (const [hash, bytes] of await this.#store.chunks([...kinds.keys()], signal)) {
      if (kinds.get(hash) === "tile") this.#tiles.set(hash, readTile(bytes));
      else this.#indexes.set(hash, readIndex(bytes));
    }
  }

  async #wireCells(cells: readonly WindowCell[], signal?: AbortSignal): Promise<WireCell[] | null> {
    const long = cells.map(({ value }) => value).filter(isLong);
    const hashes = new Set(long.map(({ hash }) => hash));
    if (hashes.size > MAX_LONG_TEXTS) return null;
    const missing = [...hashes].filter((hash) => this.#texts.get(hash) === undefined);
    this.#texts.makeRoom(missing.length);
    for (const [hash, bytes] of await this.#store.chunks(missing, signal)) this.#texts.set(hash, utf8(bytes));
    return cells.flatMap(({ row, column, value, format }) => {
      if (value === null && format === undefined) return [];
      const shown = isLong(value) ? (this.#texts.get(value.hash) ?? value.preview) : value;
      return [withoutAbsent<WireCell>({ row, column, value: shown, format })];
    });
  }
}

function isLong(value: WindowCell["value"]): value is LongText {
  return typeof value === "object" && value !== null && "hash" in value;
}

function isMissing(found: readonly (RangeFormat | MissingObject)[]): found is MissingObject[] {
  return found.some((item) => "chunk" in item);
}

function meets({ rows, columns }: RangeFormat, range: WindowRange): boolean {
  const touches = (spans: RangeFormat["rows"], start: number, length: number) =>
    spans.some(({ first, count }) => first < start + length && start < first + count);
  return touches(rows, range.firstRow, range.rowCount) && touches(columns, range.firstColumn, range.columnCount);
}
