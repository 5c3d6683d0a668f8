/** Writes a state as records of a database, and reads it back. */

import { Block, type StoredCell } from "./block";
import type { CanonicalState } from "./canonical";
import { cellValueOf, fieldsOf, integerOf, listOf, MalformedReply, oneOf, optionalText, textOf, withoutAbsent } from "./decode";
import { BLOCK_COLUMNS, BLOCK_ROWS, MAX_COLUMNS, MAX_ROWS, MAX_STORED_BYTES_PER_SPREADSHEET } from "./limits";
import type { SheetInfo } from "./types";
import type { Role, SheetsReply } from "./wire";

/** A state of another version is not read. */
const VERSION = 1;
/** What a block has besides the cells. */
const BLOCK_BYTES = BLOCK_ROWS * Int32Array.BYTES_PER_ELEMENT + 128;

export interface BlockRecord {
  sheet: number;
  rowBlock: number;
  columnBlock: number;
  isOutdated: boolean;
  loaded: Int32Array;
  /** JSON of the cells by number. As bytes, so that the size is known. */
  cells: Uint8Array;
}

export interface StateRecord {
  /** Stack, identity and spreadsheet. */
  key: string[];
  version: number;
  position: number;
  incarnation: number;
  endsSegment: boolean | undefined;
  role: Role;
  sheets: SheetInfo[];
  fullExtents: number[];
  nextSheet: number;
  names: string[];
  blocks: BlockRecord[];
}

/** A state that was read. */
export interface KeptState extends SheetsReply {
  role: Role;
  endsSegment: boolean | undefined;
  fullExtents: readonly number[];
  /** The most recently used one is first. */
  blocks: readonly Block[];
}

/** Replaces everything with a state that was stored. */
export function restoreState(canonical: CanonicalState, state: KeptState): void {
  canonical.reset(state);
  canonical.endsSegment = state.endsSegment;
  for (const sheet of state.fullExtents) canonical.fullExtents.add(sheet);
  for (const block of [...state.blocks].reverse()) canonical.cache.put(block);
}

export function bytesOf({ cells }: BlockRecord): number {
  return cells.length + BLOCK_BYTES;
}

/** Writes a block. Results that were outdated must not look as if they were calculated. */
export function blockRecord(block: Block): BlockRecord {
  const { place, isOutdated } = block;
  const { cells, loaded } = block.contents;
  const shown = [...cells].map(([index, cell]) => [index, isOutdated && isResult(cell) ? { ...cell, stale: true } : cell]);
  const bytes = new TextEncoder().encode(JSON.stringify(shown));
  return { ...place, isOutdated, loaded: Int32Array.from(loaded), cells: bytes };
}

function isResult({ formula, filledBy }: StoredCell): boolean {
  return formula !== undefined || filledBy !== undefined;
}

export function stateRecord(key: string[], state: CanonicalState, role: Role, blocks: BlockRecord[]): StateRecord {
  const { position, incarnation, endsSegment, nextSheet } = state;
  const lists = { sheets: [...state.sheets], fullExtents: [...state.fullExtents], names: [...state.names] };
  return { key, version: VERSION, position, incarnation, endsSegment, role, nextSheet, ...lists, blocks };
}

/** Returns the first blocks, as far as they fit. */
export function fittingBlocks(blocks: readonly BlockRecord[], maxBytes = MAX_STORED_BYTES_PER_SPREADSHEET): BlockRecord[] {
  let bytes = 0;
  return blocks.filter((block) => (bytes += bytesOf(block)) <= maxBytes);
}

/** Adds the blocks that another tab stored of the same state. */
export function mergedRecord(own: StateRecord, other: StateRecord | undefined): StateRecord {
  if (other?.version !== VERSION || other.position !== own.position || other.incarnation !== own.incarnation) return own;
  const keyOf = ({ sheet, rowBlock, columnBlock }: BlockRecord) => `${sheet}:${rowBlock}:${columnBlock}`;
  const known = new Set(own.blocks.map(keyOf));
  const blocks = fittingBlocks([...own.blocks, ...other.blocks.filter((block) => !known.has(keyOf(block)))]);
  const sheets = own.sheets.map((info) => {
    const isKnown = own.fullExtents.includes(info.sheet) || !other.fullExtents.includes(info.sheet);
    return isKnown ? info : (other.sheets.find(({ sheet }) => sheet === info.sheet) ?? info);
  });
  return { ...own, blocks, sheets, fullExtents: [...new Set([...own.fullExtents, ...other.fullExtents])] };
}

/** Reads a record that may be damaged, or of another version. */
export function decodeState(value: unknown): KeptState {
  const fields = fieldsOf(value, "a stored state");
  if (fields.version !== VERSION) throw new MalformedReply("a stored state has another version");
  return {
    position: integerOf(fields.position, "a position"),
    incarnation: integerOf(fields.incarnation, "an incarnation"),
    endsSegment: typeof fields.endsSegment === "boolean" ? fields.endsSegment : undefined,
    role: oneOf(fields.role, ["viewer", "editor", "owner"], "a role"),
    sheets: listOf(fields.sheets, "sheets", decodeSheet),
    fullExtents: listOf(fields.fullExtents, "sheets", (sheet) => integerOf(sheet, "a sheet")),
    nextSheet: integerOf(fields.nextSheet, "a sheet"),
    names: listOf(fields.names, "names", (name) => textOf(name, "a name")),
    blocks: listOf(fields.blocks, "blocks", decodeBlock),
  };
}

function decodeSheet(value: unknown): SheetInfo {
  const fields = fieldsOf(value, "a sheet");
  const extent = fieldsOf(fields.extent, "an extent");
  const rows = integerOf(extent.rows, "rows", MAX_ROWS);
  const columns = integerOf(extent.columns, "columns", MAX_COLUMNS);
  return { sheet: integerOf(fields.sheet, "a sheet"), name: textOf(fields.name, "a name"), extent: { rows, columns } };
}

function decodeBlock(value: unknown): Block {
  const fields = fieldsOf(value, "a block");
  const { loaded, cells } = fields;
  if (!(loaded instanceof Int32Array) || loaded.length !== BLOCK_ROWS || !(cells instanceof Uint8Array)) {
    throw new MalformedReply("a stored block is damaged");
  }
  const block = new Block({
    sheet: integerOf(fields.sheet, "a sheet"),
    rowBlock: integerOf(fields.rowBlock, "a block", MAX_ROWS / BLOCK_ROWS - 1),
    columnBlock: integerOf(fields.columnBlock, "a block", MAX_COLUMNS / BLOCK_COLUMNS - 1),
  });
  for (const [index, cell] of listOf(JSON.parse(new TextDecoder().decode(cells)), "cells", decodeCell)) {
    block.set(block.firstRow + Math.floor(index / BLOCK_COLUMNS), block.firstColumn + (index % BLOCK_COLUMNS), cell);
  }
  block.contents.loaded.set(loaded);
  block.isOutdated = fields.isOutdated === true;
  return block;
}

function decodeCell(item: unknown): [number, StoredCell] {
  const [index, value] = Array.isArray(item) ? item : [];
  const fields = fieldsOf(value, "a stored cell");
  const cell = withoutAbsent<StoredCell>({
    value: cellValueOf(fields.value),
    text: textOf(fields.text, "a text"),
    formula: optionalText(fields.formula, "a formula"),
    format: optionalText(fields.format, "a format"),
    stale: fields.stale === true ? true : undefined,
    note: optionalText(fields.note, "a note"),
    filledBy: optionalText(fields.filledBy, "a place"),
    fills: optionalText(fields.fills, "a range"),
  });
  return [integerOf(index, "the number of a cell", BLOCK_ROWS * BLOCK_COLUMNS - 1), cell];
}
