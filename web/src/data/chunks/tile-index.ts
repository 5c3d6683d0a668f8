/** The tile index of a level: which chunks have the cells of a sheet. */

import { readReads, type Reads } from "./areas";
import { MAX_CHUNK_BYTES, MAX_SHEET_AREAS, MAX_SHEETS, MAX_TILE_AREAS, MAX_TILE_CELLS, SHEET_ID_LIMIT } from "./bounds";
import { malformed } from "./format-error";
import { MAX_COLUMNS, MAX_ROWS } from "./bounds";
import { PartReader, type ChunkRef, type Moves } from "./index-parts";
import { SpanMap } from "./span-map";

export interface TileRef {
  cells: number;
  stored: { kind: "chunk"; chunk: ChunkRef } | { kind: "inline"; bytes: Uint8Array };
  formulas?: { count: number; reads: Reads };
}

/** The tiles of a stripe by rows, or the chunks that list them. */
export type RowIndex = { kind: "tiles"; tiles: SpanMap<TileRef> } | { kind: "parts"; parts: SpanMap<ChunkRef> };

/** The stripes of a sheet by columns, or the chunks that list them. */
export type StripeIndex =
  | { kind: "stripes"; stripes: SpanMap<RowIndex> }
  | { kind: "parts"; parts: SpanMap<ChunkRef> }
  | { kind: "chunk"; chunk: ChunkRef };

export interface LevelSheet {
  sheet: number;
  moves: { kind: "inline"; moves: Moves } | { kind: "chunk"; chunk: ChunkRef };
  stripes: StripeIndex;
  /** Absent if the number is not known. */
  formulas?: number;
  reads?: Reads;
}

/** A tile, stripe or sheet cannot have more; a larger number is damage. */
const MAX_COUNT = Number.MAX_SAFE_INTEGER;

export class IndexReader extends PartReader {
  /** Whether tiles are inside of the index. */
  hasInlineTiles = false;

  parts(limit: number): SpanMap<ChunkRef> {
    return this.#filled(SpanMap.read(this.cbor, limit, () => this.chunk()));
  }

  tiles(): SpanMap<TileRef> {
    return this.#filled(SpanMap.read(this.cbor, MAX_ROWS, () => this.#tile()));
  }

  stripes(): SpanMap<RowIndex> {
    return SpanMap.read(this.cbor, MAX_COLUMNS, () => this.#rowIndex());
  }

  /** Reads the stripes of a chunk, at least one. */
  filledStripes(): SpanMap<RowIndex> {
    return this.#filled(this.stripes());
  }

  stripeIndex(): StripeIndex {
    return this.variant<StripeIndex>([
      () => ({ kind: "stripes", stripes: this.stripes() }),
      () => ({ kind: "parts", parts: SpanMap.read(this.cbor, MAX_COLUMNS, () => this.chunk()) }),
      () => ({ kind: "chunk", chunk: this.chunk() }),
    ]);
  }

  level(): LevelSheet[] {
    let next = 0;
    return this.cbor.list(MAX_SHEETS, () => {
      const sheet = this.#sheet();
      if (sheet.sheet < next) throw malformed("the sheets of a level are not sorted");
      next = sheet.sheet + 1;
      return sheet;
    });
  }

  #sheet(): LevelSheet {
    const itemCount = this.cbor.array();
    if (itemCount < 3 || itemCount > 5) throw malformed(`a sheet of a level has ${itemCount} items`);
    const sheet = this.cbor.integer(SHEET_ID_LIMIT - 1);
    const moves = this.variant<LevelSheet["moves"]>([
      () => ({ kind: "inline", moves: this.moves() }),
      () => ({ kind: "chunk", chunk: this.chunk() }),
    ]);
    const result: LevelSheet = { sheet, moves, stripes: this.stripeIndex() };
    if (itemCount > 3) result.formulas = this.cbor.integer(MAX_COUNT);
    if (itemCount > 4) result.reads = readReads(this.cbor, MAX_SHEET_AREAS);
    return result;
  }

  #rowIndex(): RowIndex {
    return this.variant<RowIndex>([
      () => ({ kind: "tiles", tiles: this.tiles() }),
      () => ({ kind: "parts", parts: this.parts(MAX_ROWS) }),
    ]);
  }

  #tile(): TileRef {
    const itemCount = this.cbor.array();
    if (itemCount < 2 || itemCount > 3) throw malformed(`a tile has ${itemCount} items`);
    const cells = this.cbor.integer(MAX_TILE_CELLS);
    const stored = this.variant<TileRef["stored"]>([
      () => ({ kind: "chunk", chunk: this.chunk() }),
      () => this.#inline(),
    ]);
    return itemCount === 2 ? { cells, stored } : { cells, stored, formulas: this.#formulas() };
  }

  #inline(): TileRef["stored"] {
    this.hasInlineTiles = true;
    const bytes = this.cbor.bytes();
    if (bytes.length > MAX_CHUNK_BYTES) throw malformed("a tile has too many bytes");
    return { kind: "inline", bytes };
  }

  #formulas() {
    this.hasVersion2 = true;
    this.cbor.arrayOf(2);
    const count = this.cbor.integer(MAX_TILE_CELLS);
    if (count === 0) throw malformed("a tile lists no formulas");
    return { count, reads: readReads(this.cbor, MAX_TILE_AREAS) };
  }

  #filled<T>(map: SpanMap<T>): SpanMap<T> {
    if (map.isEmpty) throw malformed("an index has no items");
    return map;
  }
}
