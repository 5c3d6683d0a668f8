/** Tiles: chunks with the cells of a range of rows and columns. See `docs/reference/chunk-format.md`. */

import * as bounds from "./bounds";
import { ByteReader } from "./byte-reader";
import { atMost, FormatError, malformed } from "./format-error";
import { readCounts } from "./integers";
import { readRows } from "./rows";
import { checkTemplate } from "./template";
import { TextReader } from "./texts";
import { readValues, type TileValue } from "./values";

const HEADER = [0x43, 0x63] as const;
const TILE = 1;
const MAX_VERSION = 2;
const ALL_VALUES = 4;

/** Items of some rows, which ascend. */
export interface RowItems<T> {
  rows: Uint32Array;
  items: readonly T[];
}

/** Rows and columns are relative to the place of the tile. */
export interface TileColumn {
  column: number;
  values: RowItems<TileValue>;
  /** Formulas as texts, in the coordinates of the tile's level. */
  formulas: RowItems<string>;
  /** Formulas in a form that does not depend on their cells. */
  templates: RowItems<string>;
  formats: RowItems<string>;
}

export interface Tile {
  columns: TileColumn[];
}

const NO_ROWS = new Uint32Array(0);
const NO_ITEMS = { rows: NO_ROWS, items: [] };

export function readTile(bytes: Uint8Array): Tile {
  atMost(bytes.length, bounds.MAX_CHUNK_BYTES, "the number of bytes of a chunk");
  const reader = new ByteReader(bytes);
  for (const expected of HEADER) {
    if (reader.byte() !== expected) throw malformed("a chunk does not start with Cc");
  }
  const version = reader.byte();
  if (version < 1 || version > MAX_VERSION) throw new FormatError("version", `version ${version} is not known`);
  const kind = reader.byte();
  if (kind !== TILE) throw malformed(`a chunk of kind ${kind} is no tile`);
  const columns = new ColumnReader(reader, version).columns();
  reader.end("the last column");
  return { columns };
}

class ColumnReader {
  readonly #texts: TextReader;
  #cells = 0;
  #formatBytes = 0;
  #anchor = 0;
  #formats: string[] = [];

  constructor(
    private readonly reader: ByteReader,
    private readonly version: number,
  ) {
    this.#texts = new TextReader(reader);
  }

  columns(): TileColumn[] {
    const formatCount = atMost(this.reader.count(), bounds.MAX_TILE_CELLS, "the number of formats");
    if (formatCount > 0) this.#formats = this.#texts.texts(formatCount, bounds.MAX_FORMAT_BYTES);
    const count = atMost(this.reader.count(), bounds.MAX_TILE_COLUMNS, "the number of columns");
    const columns: TileColumn[] = [];
    for (let next = 0; columns.length < count; ) {
      const column = next + this.reader.count();
      if (column >= bounds.MAX_COLUMNS) throw malformed(`column ${column} is outside of a sheet`);
      columns.push(this.#column(column));
      next = column + 1;
    }
    return columns;
  }

  #column(column: number): TileColumn {
    const flags = this.reader.byte();
    const [kind, form] = [flags & 7, (flags >> 3) & 3];
    const [hasFormulas, hasFormats, hasTemplates] = [(flags & 32) > 0, (flags & 64) > 0, (flags & 128) > 0];
    if (hasTemplates && this.version === 1) throw malformed("a chunk of version 1 has no templates");
    if (kind === 0 && flags !== 64) throw malformed("a column without values must have formats only");
    const values = kind === 0 ? NO_ITEMS : this.#values(kind, form);
    const formulas = hasFormulas ? this.#formulas(values.rows, bounds.MAX_FORMULA_BYTES) : NO_ITEMS;
    const templates = hasTemplates ? this.#formulas(values.rows, bounds.MAX_TEMPLATE_BYTES) : NO_ITEMS;
    new Set<string>(templates.items).forEach(checkTemplate);
    requireDisjoint(formulas.rows, templates.rows);
    const formats = hasFormats ? this.#columnFormats(values.rows) : NO_ITEMS;
    this.#anchor = values.rows[0] ?? formats.rows[0] ?? 0;
    return { column, values, formulas, templates, formats };
  }

  #values(kind: number, form: number): RowItems<TileValue> {
    const rows = this.#rows(form, this.#anchor, bounds.MAX_ROWS);
    return { rows, items: readValues(this.reader, this.#texts, kind, rows.length) };
  }

  #formulas(valueRows: Uint32Array, maxBytes: number): RowItems<string> {
    const form = this.reader.byte();
    const rows =
      form === ALL_VALUES
        ? this.#count(valueRows)
        : this.#rows(form, 0, valueRows.length).map((index) => valueRows[index] ?? 0);
    return { rows, items: this.#texts.texts(rows.length, maxBytes) };
  }

  #columnFormats(valueRows: Uint32Array): RowItems<string> {
    const form = this.reader.byte();
    if (form === ALL_VALUES && valueRows.length === 0) throw malformed("a column without values has formats in their rows");
    const anchor = valueRows[0] ?? this.#anchor;
    const rows = form === ALL_VALUES ? this.#count(valueRows) : this.#rows(form, anchor, bounds.MAX_ROWS);
    if (this.#formats.length === 0) throw malformed("a column has formats, but the tile has none");
    const indices = readCounts(this.reader, rows.length, this.#formats.length - 1);
    const used = new Set(indices);
    for (const index of used) this.#formatBytes += byteLength(this.#formats[index] ?? "");
    atMost(this.#formatBytes, bounds.MAX_COPIED_FORMAT_BYTES, "the number of bytes of formats");
    return { rows, items: Array.from(indices, (index) => this.#formats[index] ?? "") };
  }

  #rows(form: number, anchor: number, limit: number): Uint32Array {
    if (form > 3) throw malformed(`${form} is no form of rows`);
    const maxCount = bounds.MAX_TILE_CELLS - this.#cells;
    return this.#count(readRows(this.reader, { form, anchor, limit, maxCount }));
  }

  #count(rows: Uint32Array): Uint32Array {
    this.#cells = atMost(this.#cells + rows.length, bounds.MAX_TILE_CELLS, "the number of cells of a tile");
    return rows;
  }
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

function requireDisjoint(formulas: Uint32Array, templates: Uint32Array): void {
  const rows = new Set(formulas);
  const shared = templates.find((row) => rows.has(row));
  if (shared !== undefined) throw malformed(`row ${shared} has a formula and a template`);
}
