/** Writes a state as records of a database, and reads it back. */

import { Block, type StoredCell } from "./block";
import type { CanonicalState } from "./canonical";
import { cellValueOf, fieldsOf, integerOf, listOf, MalformedReply, oneOf, textOf } from "./decode";
import { BLOCK_COLUMNS, BLOCK_ROWS, MAX_COLUMNS, MAX_ROWS, MAX_STORED_BYTES_PER_SPREADSHEET } from "./limits";
import type { SheetInfo } from "./types";
import type { Role, SheetsReply } from "./wire";

/** A state of another version is not read. */
const VERSION = 1;
/** What is wrong in it does not matter: it is not used. */
const WHAT = "a stored state";
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

/** Adds the blocks that another tab stored of the same state. Returns null if the other state is later. */
export function mergedRecord(own: StateRecord, other: StateRecord | undefined): StateRecord | null {
  if (other?.version !== VERSION) return own;
  const ahead = other.incarnation - own.incarnation || other.position - own.position;
  if (ahead !== 0) return ahead > 0 ? null : own;
  const keyOf = ({ sheet, rowBlock, columnBlock }: BlockRecord) => `${sheet}:${rowBlock}:${columnBlock}`;
  const known = new Set(own.blocks.map(keyOf));
  const blocks = fittingBlocks([...own.blocks, ...other.blocks.filter((block) => !known.has(keyOf(block)))]);
  return { ...own, blocks };
}

/** Reads a record that may be damaged, or of another version. */
export function decodeState(value: unknown): KeptState {
  const fields = fieldsOf(value, WHAT);
  if (fields.version !== VERSION) throw new MalformedReply(WHAT);
  return {
    position: integerOf(fields.position, WHAT),
    incarnation: integerOf(fields.incarnation, WHAT),
    endsSegment: typeof fields.endsSegment === "boolean" ? fields.endsSegment : undefined,
    role: oneOf(fields.role, ["viewer", "editor", "owner"], WHAT),
    sheets: listOf(fields.sheets, WHAT, decodeSheet),
    fullExtents: listOf(fields.fullExtents, WHAT, (sheet) => integerOf(sheet, WHAT)),
    nextSheet: integerOf(fields.nextSheet, WHAT),
    names: listOf(fields.names, WHAT, (name) => textOf(name, WHAT)),
    blocks: listOf(fields.blocks, WHAT, decodeBlock),
  };
}

function decodeSheet(value: unknown): SheetInfo {
  const fields = fieldsOf(value, WHAT);
  const extent = fieldsOf(fields.extent, WHAT);
  const rows = integerOf(extent.rows, WHAT, MAX_ROWS);
  const columns = integerOf(extent.columns, WHAT, MAX_COLUMNS);
  return { sheet: integerOf(fields.sheet, WHAT), name: textOf(fields.name, WHAT), extent: { rows, columns } };
}

function decodeBlock(value: unknown): Block {
  const fields = fieldsOf(value, WHAT);
  const { loaded, cells } = fields;
  if (!(loaded instanceof Int32Array) || loaded.length !== BLOCK_ROWS || !(cells instanceof Uint8Array)) {
    throw new MalformedReply(WHAT);
  }
  const block = new Block({
    sheet: integerOf(fields.sheet, WHAT),
    rowBlock: integerOf(fields.rowBlock, WHAT, MAX_ROWS / BLOCK_ROWS - 1),
    columnBlock: integerOf(fields.columnBlock, WHAT, MAX_COLUMNS / BLOCK_COLUMNS - 1),
  });
  for (const [index, cell] of listOf(JSON.parse(new TextDecoder().decode(cells)), WHAT, decodeCell)) {
    block.set(block.firstRow + Math.floor(index / BLOCK_COLUMNS), block.firstColumn + (index % BLOCK_COLUMNS), cell);
  }
  block.contents.loaded.set(loaded);
  block.isOutdated = fields.isOutdated === true;
  return block;
}

function decodeCell(item: unknown): [number, StoredCell] {
  const [index, value] = Array.isArray(item) ? item : [];
  const { text, ...cell } = fieldsOf(value, WHAT);
  // The other fields are those that this version wrote.
  const checked = { ...cell, value: cellValueOf(cell.value), text: textOf(text, WHAT) };
  return [integerOf(index, WHAT, BLOCK_ROWS * BLOCK_COLUMNS - 1), checked];
}
