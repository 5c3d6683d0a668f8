/** Finds the tiles of a level that a window needs. Objects that are not loaded are noted. */

import { malformed } from "./format-error";
import type { IndexObject, RangeFormat } from "./index-object";
import type { ChunkRef, Moves } from "./index-parts";
import type { Lines } from "./lines";
import type { RootSheet } from "./root";
import type { Placed, SpanMap } from "./span-map";
import type { Tile } from "./tile";
import type { LevelSheet, RowIndex, StripeIndex, TileRef } from "./tile-index";

/** The objects that are loaded, by their hashes. */
export interface LoadedObjects {
  index(hash: string): IndexObject | undefined;
  tile(hash: string): Tile | undefined;
}

export interface MissingObject {
  chunk: ChunkRef;
  kind: "index" | "tile";
}

/** A tile at its place. Cells beyond the place are not part of the sheet. */
export interface PlacedTile {
  firstRow: number;
  endRow: number;
  firstColumn: number;
  endColumn: number;
  ref: TileRef;
}

export class TileFinder {
  readonly missing = new Map<string, MissingObject>();

  constructor(private readonly objects: LoadedObjects) {}

  tile(ref: TileRef): Tile | undefined {
    // Inline tiles are given by the name of their place in the root: they are never missing.
    if (ref.stored.kind === "inline") throw malformed("an inline tile is not an object");
    const { chunk } = ref.stored;
    const tile = this.objects.tile(chunk.hash);
    if (tile === undefined) this.missing.set(chunk.hash, { chunk, kind: "tile" });
    return tile;
  }

  #index<K extends IndexObject["kind"]>(chunk: ChunkRef, kind: K): Extract<IndexObject, { kind: K }> | undefined {
    const found = this.objects.index(chunk.hash);
    if (found === undefined) this.missing.set(chunk.hash, { chunk, kind: "index" });
    else if (!isOfKind(found, kind)) throw malformed(`the chunk ${chunk.hash} has ${found.kind} instead of ${kind}`);
    else return found;
    return undefined;
  }

  moves({ moves }: LevelSheet): Moves | undefined {
    return moves.kind === "inline" ? moves.moves : this.#index(moves.chunk, "moves")?.moves;
  }

  formats({ formats }: RootSheet): RangeFormat[] | undefined {
    if (formats.kind === "inline") return formats.formats;
    const lists = formats.chunks.map((chunk) => this.#index(chunk, "formats")?.formats);
    return lists.includes(undefined) ? undefined : lists.flatMap((list) => list ?? []);
  }

  tiles(index: StripeIndex, rows: readonly Lines[], columns: readonly Lines[]): PlacedTile[] {
    return this.#stripes(index, columns).flatMap((stripe) => {
      const place = { firstColumn: stripe.first, endColumn: stripe.end };
      const tiles = this.#rows(stripe.item, rows);
      return tiles.map(({ first, end, item }) => ({ ...place, firstRow: first, endRow: end, ref: item }));
    });
  }

  #stripes(index: StripeIndex, columns: readonly Lines[]): Placed<RowIndex>[] {
    if (index.kind === "stripes") return among(index.stripes, columns);
    const list = index.kind === "parts" ? index.parts : this.#index(index.chunk, "parts")?.parts;
    if (list === undefined) return [];
    return among(list, columns).flatMap((part) => {
      const stripes = this.#index(part.item, "stripes")?.stripes;
      return stripes === undefined ? [] : among(atPlace(stripes, part), columns);
    });
  }

  #rows(index: RowIndex, rows: readonly Lines[]): Placed<TileRef>[] {
    if (index.kind === "tiles") return among(index.tiles, rows);
    return among(index.parts, rows).flatMap((part) => {
      const tiles = this.#index(part.item, "tiles")?.tiles;
      return tiles === undefined ? [] : among(atPlace(tiles, part), rows);
    });
  }
}

function isOfKind<K extends IndexObject["kind"]>(object: IndexObject, kind: K): object is Extract<IndexObject, { kind: K }> {
  return object.kind === kind;
}

/** The spans of a chunk must start and end where those of its reference do. */
function atPlace<T>(map: SpanMap<T>, { first, end }: Placed<unknown>): SpanMap<T> {
  const { bounds } = map;
  if (bounds.first !== first || bounds.end !== end) throw malformed("a chunk of an index is at another place");
  return map;
}

/** Returns the items whose spans have any of the lines. */
function among<T>(map: SpanMap<T>, lines: readonly Lines[]): Placed<T>[] {
  const found: Placed<T>[] = [];
  for (const { src, len } of lines) {
    for (const placed of map.between(src, src + len)) {
      const last = found[found.length - 1];
      // The lines ascend, so an item that several of them need is the last one.
      if (last === undefined || placed.first > last.first) found.push(placed);
    }
  }
  return found;
}
