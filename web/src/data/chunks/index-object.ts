/** Objects in CBOR: a kind, a version and a content. See `docs/reference/index-and-root-format.md`. */

import * as bounds from "./bounds";
import { CborReader } from "./cbor";
import { atMost, FormatError, malformed } from "./format-error";
import { MAX_COLUMNS, MAX_ROWS } from "./bounds";
import { requireVersion, type ChunkRef, type Moves, type Span } from "./index-parts";
import type { SpanMap } from "./span-map";
import { IndexReader, type RowIndex, type StripeIndex, type TileRef } from "./tile-index";

/** A number format of a range, in the coordinates of the root. */
export interface RangeFormat {
  rows: Span[];
  columns: Span[];
  format: string;
}

export type IndexObject =
  | { kind: "moves"; moves: Moves }
  | { kind: "parts"; parts: SpanMap<ChunkRef> }
  | { kind: "stripes"; stripes: SpanMap<RowIndex> }
  | { kind: "tiles"; tiles: SpanMap<TileRef> }
  | { kind: "formats"; formats: RangeFormat[] }
  | { kind: "sheetIds"; sheetIds: Span[] }
  | { kind: "import"; stripes: StripeIndex };

export const [ROOT, MOVES, PARTS, STRIPES, TILES, FORMATS, SHEET_IDS, CLIENTS, IMPORT] = [1, 2, 3, 4, 5, 6, 7, 8, 9] as const;
const MAX_VERSION = 2;
const MAX_IMPORT_BYTES = 16 * 1024;

/** Reads an object with the given reader, which gets its kind. */
export function readObject<T>(bytes: Uint8Array, maxBytes: number, read: (reader: IndexReader, kind: number) => T): T {
  atMost(bytes.length, maxBytes, "the number of bytes of an object");
  const cbor = new CborReader(bytes);
  const reader = new IndexReader(cbor);
  cbor.arrayOf(3);
  const kind = cbor.integer(IMPORT);
  const version = cbor.integer(Number.MAX_SAFE_INTEGER);
  if (version < 1 || version > MAX_VERSION) throw new FormatError("version", `version ${version} is not known`);
  const content = read(reader, kind);
  cbor.end();
  requireVersion(version, reader.hasVersion2);
  return content;
}

export function readIndex(bytes: Uint8Array): IndexObject {
  return readObject(bytes, bounds.MAX_CHUNK_BYTES, (reader, kind): IndexObject => {
    switch (kind) {
      case MOVES:
        return { kind: "moves", moves: reader.moves() };
      case PARTS:
        return { kind: "parts", parts: reader.parts(MAX_COLUMNS) };
      case STRIPES:
        return { kind: "stripes", stripes: reader.filledStripes() };
      case TILES:
        return { kind: "tiles", tiles: reader.tiles() };
      case FORMATS:
        return { kind: "formats", formats: readFormats(reader) };
      case SHEET_IDS:
        return { kind: "sheetIds", sheetIds: readSheetIds(reader) };
      case IMPORT:
        return { kind: "import", stripes: readImport(reader, bytes.length) };
      default:
        throw malformed(`an object of kind ${kind} is no part of an index`);
    }
  });
}

export function readSheetIds(reader: IndexReader): Span[] {
  return reader.spans(bounds.SHEET_ID_LIMIT, bounds.MAX_SHEET_ID_RUNS);
}

export function readFormats(reader: IndexReader): RangeFormat[] {
  return reader.cbor.list(bounds.MAX_SHEET_FORMATS, () => {
    reader.cbor.arrayOf(3);
    const rows = reader.spans(MAX_ROWS, bounds.MAX_FORMAT_SPANS);
    const columns = reader.spans(MAX_COLUMNS, bounds.MAX_FORMAT_SPANS);
    if (rows.length === 0 || columns.length === 0) throw malformed("a range format has no rows or columns");
    const format = reader.cbor.text();
    atMost(new TextEncoder().encode(format).length, bounds.MAX_FORMAT_BYTES, "the length of a number format");
    return { rows, columns, format };
  });
}

function readImport(reader: IndexReader, byteCount: number): StripeIndex {
  atMost(byteCount, MAX_IMPORT_BYTES, "the number of bytes of an imported index");
  const stripes = reader.stripeIndex();
  if (reader.hasInlineTiles) throw malformed("an imported index has tiles inside");
  return stripes;
}
