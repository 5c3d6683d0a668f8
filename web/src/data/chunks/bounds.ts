/** Limits of the formats of chunks, indexes and roots. */

export { MAX_COLUMNS, MAX_ROWS } from "../limits";

export const MAX_TILE_CELLS = 2 ** 18;
export const MAX_TILE_COLUMNS = 2 ** 16;
export const MAX_CHUNK_BYTES = 2 ** 22;
export const MAX_ROOT_BYTES = 2 ** 23;
export const MAX_STORED_CHUNK_BYTES = 2 ** 21;
export const MAX_STORED_ROOT_BYTES = 2 ** 23;
/** What a decoder of zstd must support by RFC 8878. Larger windows are refused. */
export const MAX_WINDOW_BYTES = 2 ** 23;
export const MAX_EXPANDED_TEXT_BYTES = 2 ** 22;
export const MAX_COPIED_FORMAT_BYTES = 2 ** 22;
export const MAX_WORDS = 2 ** 20;
export const MAX_FORMAT_BYTES = 255;
export const MAX_FORMULA_BYTES = 8_192;
export const MAX_TEMPLATE_BYTES = 131_072;
export const MAX_TEMPLATE_REFERENCES = 1_024;
export const MAX_TILE_TEXT_BYTES = 4_096;
export const MAX_LONG_TEXT_BYTES = 65_536;

export const MAX_SHEETS = 1_000;
export const MAX_SHEET_NAME_CHARACTERS = 31;
export const MAX_LEVELS = 32;
export const MAX_AXIS_RUNS = 20_000;
export const MAX_REGION_SPANS = 50_000;
export const MAX_LINE_ENDS = 20_000;
export const MAX_NAMES = 2_000;
export const MAX_OUTDATED_AREAS = 64;
export const MAX_FORMAT_SPANS = 10_000;
export const MAX_SHEET_FORMATS = 10_000;
export const MAX_SHEET_ID_RUNS = 100_000;
export const MAX_CLIENTS = 40_000;
export const MAX_CLIENT_NAME_BYTES = 64;
export const MAX_CLIENT_NAMES_BYTES = 2 ** 20;
export const MAX_TILE_AREAS = 8;
export const MAX_SHEET_AREAS = 32;
export const MAX_SEGMENTS = 2 ** 21;
export const SHEET_ID_LIMIT = 2 ** 32 - 1;
