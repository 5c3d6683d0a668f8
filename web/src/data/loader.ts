/** Loads blocks that a view needs, the most important first, and ends loads that it needs no more. */

import type { Api } from "./api";
import { AbortedError } from "./api-error";
import { jitteredDelayMs, type Random } from "./backoff";
import { blockKey, type Block, type BlockPlace } from "./block";
import type { CanonicalState } from "./canonical";
import { MalformedReply } from "./decode";
import { BLOCK_COLUMNS, BLOCK_ROWS, MAX_BLOCKS_PER_REQUEST, MAX_CONCURRENT_LOADS, POLL_MAX_MS } from "./limits";
import { blocksOf, formatOf, rangeOf } from "./loaded-blocks";
import { loadFormatter, needsFormatter } from "./text";
import type { Range } from "./types";
import type { Entry } from "./wire";

export interface LoaderEvents {
  loaded(sheet: number, range: Range, hasNewExtent: boolean): void;
  failed(error: unknown): void;
}

/** Another source of blocks than the server, for speed. */
export interface BlockSource {
  /** Returns null if the server must be asked, because it is not certain or takes too long. */
  read(places: readonly BlockPlace[]): Promise<Block[] | null>;
  /** Adds an entry that was applied. */
  note(entry: Entry): void;
  close(): void;
}

interface Load {
  places: BlockPlace[];
  abort: AbortController;
}

export class Loader {
  #wanted: BlockPlace[] = [];
  readonly #loads = new Set<Load>();
  source: BlockSource | null = null;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly api: Api,
    private readonly state: CanonicalState,
    private readonly events: LoaderEvents,
    private readonly random: Random,
  ) {}

  /** Sets the blocks that are needed, the most important first. */
  want(places: readonly BlockPlace[]): void {
    this.#wanted = [...places];
    const keys = new Set(places.map(blockKey));
    for (const load of this.#loads) {
      if (!load.places.some((place) => keys.has(blockKey(place)))) load.abort.abort();
    }
    // Used in reverse, so that the most important block is dropped last.
    for (const place of [...places].reverse()) this.state.cache.touch(place);
    this.run();
  }

  /** Starts the loads that are missing. */
  run(): void {
    if (this.#timer !== undefined) return;
    while (this.#loads.size < MAX_CONCURRENT_LOADS) {
      const places = this.#nextPlaces();
      if (places.length === 0) return;
      const load = { places, abort: new AbortController() };
      this.#loads.add(load);
      void this.#load(load);
    }
  }

  close(): void {
    this.#wanted = [];
    clearTimeout(this.#timer);
    this.source?.close();
    for (const load of this.#loads) load.abort.abort();
  }

  /** Returns adjacent blocks of one row of blocks. */
  #nextPlaces(): BlockPlace[] {
    const loading = new Set([...this.#loads].filter(({ abort }) => !abort.signal.aborted).flatMap(({ places }) => places.map(blockKey)));
    const missing = this.#wanted.filter((place) => this.needsLoad(place) && !loading.has(blockKey(place)));
    const [first] = missing;
    if (first === undefined) return [];
    const places = [first];
    for (let next = first.columnBlock + 1; places.length < MAX_BLOCKS_PER_REQUEST; next += 1) {
      const isNext = (place: BlockPlace) => place.columnBlock === next && place.rowBlock === first.rowBlock;
      const found = missing.find((place) => isNext(place) && place.sheet === first.sheet);
      if (found === undefined) break;
      places.push(found);
    }
    return places;
  }

  /** Blocks outside the used range are blank and need no request, unless formulas may fill them. */
  needsLoad(place: BlockPlace): boolean {
    const extent = this.state.info(place.sheet)?.extent;
    if (extent === undefined) return false;
    const block = this.state.cache.block(place);
    if (block !== undefined) return block.isOutdated || !block.isComplete();
    const isInside = place.rowBlock * BLOCK_ROWS < extent.rows && place.columnBlock * BLOCK_COLUMNS < extent.columns;
    return isInside || !this.state.fullExtents.has(place.sheet);
  }

  async #load(load: Load): Promise<void> {
    try {
      await this.#loadBlocks(load);
      this.#failures = 0;
    } catch (error) {
      if (!(error instanceof AbortedError) && !load.abort.signal.aborted) this.#pause(error);
    } finally {
      this.#loads.delete(load);
      this.run();
    }
  }

  #pause(error: unknown): void {
    const BASE_MS = 500;
    this.#failures += 1;
    const delayMs = jitteredDelayMs(this.#failures, BASE_MS, POLL_MAX_MS, this.random);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.run();
    }, BASE_MS + delayMs);
    this.events.failed(error);
  }

  async #loadBlocks({ places, abort }: Load): Promise<void> {
    if (await this.#loadFromSource(places, abort.signal)) return;
    const { state } = this;
    const sheet = places[0]?.sheet ?? 0;
    const info = state.info(sheet);
    if (info === undefined) return;
    const { position: at, incarnation } = state;
    const range = rangeOf(places);
    const reply = await this.api.cells({ sheet: info.name, range, at, signal: abort.signal });
    if (reply.cells.some((cell) => needsFormatter(cell.value, formatOf(cell, reply.formats)))) await loadFormatter();
    if (abort.signal.aborted) return;
    if (reply.position !== at || reply.sheet !== sheet) {
      throw new MalformedReply("the cells are of another state or sheet than requested");
    }
    // Entries arrived meanwhile: these cells may be outdated or have moved, so load again.
    if (state.changedAt > at || state.incarnation !== incarnation) return;
    const { rows, columns } = state.info(sheet)?.extent ?? reply.extent;
    const hasNewExtent = rows !== reply.extent.rows || columns !== reply.extent.columns;
    state.setExtent(sheet, reply.extent);
    for (const block of blocksOf(places, reply)) state.cache.put(block);
    this.events.loaded(sheet, range, hasNewExtent);
  }

  /** Returns whether the blocks need no request. */
  async #loadFromSource(places: readonly BlockPlace[], signal: AbortSignal): Promise<boolean> {
    const { state, source } = this;
    // A sheet whose used range is not known whole needs the server once.
    const sheet = places[0]?.sheet ?? 0;
    if (source === null || !state.fullExtents.has(sheet)) return false;
    const { position, incarnation } = state;
    const blocks = await source.read(places);
    if (signal.aborted) return true;
    if (blocks === null || state.position !== position || state.incarnation !== incarnation) return false;
    for (const block of blocks) state.cache.put(block);
    this.events.loaded(sheet, rangeOf(places), false);
    return true;
  }
}
