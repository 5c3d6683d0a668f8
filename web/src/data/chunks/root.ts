/** Roots of snapshots: the sheets and levels. See `docs/reference/index-and-root-format.md`. */

import { readAreas, type Area } from "./areas";
import * as bounds from "./bounds";
import { atMost, malformed } from "./format-error";
import { readFormats, readObject, readSheetIds, ROOT, type RangeFormat } from "./index-object";
import { MAX_COLUMNS, MAX_ROWS } from "./bounds";
import { type ChunkRef, type Span } from "./index-parts";
import type { IndexReader, LevelSheet } from "./tile-index";

export interface RootSheet {
  sheet: number;
  name: string;
  /** The used range. */
  extent: { rows: number; columns: number };
  formats: { kind: "inline"; formats: RangeFormat[] } | { kind: "chunks"; chunks: ChunkRef[] };
}

export interface Level {
  /** The level covers the entries after this position; absent in the oldest level. */
  after?: number;
  last: number;
  cells: number;
  bytes: number;
  sheets: LevelSheet[];
}

/** A name that formulas use, and its formula as a template. */
export interface DefinedName {
  name: string;
  formula: string;
}

export interface Root {
  position: number;
  entries: number;
  sheets: RootSheet[];
  sheetIds: { kind: "inline"; spans: Span[] } | { kind: "chunk"; chunk: ChunkRef };
  /** All levels, oldest first, with level 0 as the last one. */
  levels: Level[];
  hasLevelZero: boolean;
  clients?: ChunkRef;
  totals: { cells: number; bytes: number };
  names: DefinedName[];
  /** Cells whose formulas have outdated values; absent if no values are known. */
  outdated?: Area[];
}

const MAX_POSITION = Number.MAX_SAFE_INTEGER;

export function readRoot(bytes: Uint8Array): Root {
  return readObject(bytes, bounds.MAX_ROOT_BYTES, (reader, kind) => {
    if (kind !== ROOT) throw malformed(`an object of kind ${kind} is no root`);
    const root = readFields(reader);
    checkSheets(root);
    checkLevels(root);
    return root;
  });
}

function readFields(reader: IndexReader): Root {
  const { cbor } = reader;
  const found: Partial<Root> = {};
  const levels: { older?: Level[]; zero?: Level } = {};
  cbor.map({
    0: () => (found.position = cbor.integer(MAX_POSITION)),
    1: () => (found.entries = cbor.integer(MAX_POSITION)),
    2: () => (found.sheets = cbor.list(bounds.MAX_SHEETS, () => readSheet(reader))),
    3: () => (found.sheetIds = readUsedIds(reader)),
    4: () => (levels.older = cbor.list(bounds.MAX_LEVELS, () => readLevel(reader))),
    5: () => (levels.zero = readLevel(reader)),
    6: () => (found.clients = reader.chunk()),
    7: () => (found.totals = readTotals(reader)),
    8: () => (found.names = readNames(reader)),
    9: () => (found.outdated = readAreas(cbor, bounds.MAX_OUTDATED_AREAS)),
  });
  const { position, entries, sheets, sheetIds, totals, names = [], ...optional } = found;
  const { older, zero } = levels;
  if (position === undefined || entries === undefined || !sheets || !sheetIds || !older || !totals) {
    throw malformed("a root lacks a field");
  }
  const all = zero === undefined ? older : [...older, zero];
  const hasLevelZero = zero !== undefined;
  return { position, entries, sheets, sheetIds, totals, names, levels: all, hasLevelZero, ...optional };
}

function readSheet(reader: IndexReader): RootSheet {
  const { cbor } = reader;
  const found: Partial<RootSheet> = {};
  cbor.map({
    0: () => (found.sheet = cbor.integer(bounds.SHEET_ID_LIMIT - 1)),
    1: () => (found.name = cbor.text()),
    2: () => {
      cbor.arrayOf(2);
      const rows = cbor.integer(MAX_ROWS);
      found.extent = { rows, columns: cbor.integer(MAX_COLUMNS) };
    },
    3: () => (found.formats = readSheetFormats(reader)),
  });
  const { sheet, name, extent, formats } = found;
  if (sheet === undefined || name === undefined || !extent || !formats) throw malformed("a sheet lacks a field");
  const characters = [...name].length;
  if (characters < 1 || characters > bounds.MAX_SHEET_NAME_CHARACTERS) {
    throw malformed(`the name of a sheet has ${characters} characters`);
  }
  return { sheet, name, extent, formats };
}

function readSheetFormats(reader: IndexReader): RootSheet["formats"] {
  return reader.variant<RootSheet["formats"]>([
    () => ({ kind: "inline", formats: readFormats(reader) }),
    () => {
      const chunks = reader.cbor.list(bounds.MAX_SHEET_FORMATS, () => reader.chunk());
      return { kind: "chunks", chunks };
    },
  ]);
}

function readUsedIds(reader: IndexReader): Root["sheetIds"] {
  return reader.variant<Root["sheetIds"]>([
    () => ({ kind: "inline", spans: readSheetIds(reader) }),
    () => ({ kind: "chunk", chunk: reader.chunk() }),
  ]);
}

function readLevel(reader: IndexReader): Level {
  const { cbor } = reader;
  const found: Partial<Level> = {};
  cbor.map({
    0: () => (found.after = cbor.integer(MAX_POSITION)),
    1: () => (found.last = cbor.integer(MAX_POSITION)),
    2: () => (found.cells = cbor.integer(MAX_POSITION)),
    3: () => (found.bytes = cbor.integer(MAX_POSITION)),
    4: () => (found.sheets = reader.level()),
  });
  const { last, cells, bytes, sheets, ...optional } = found;
  if (last === undefined || cells === undefined || bytes === undefined || !sheets) throw malformed("a level lacks a field");
  return { last, cells, bytes, sheets, ...optional };
}

function readTotals({ cbor }: IndexReader): Root["totals"] {
  cbor.arrayOf(2);
  const cells = cbor.integer(MAX_POSITION);
  return { cells, bytes: cbor.integer(MAX_POSITION) };
}

function readNames(reader: IndexReader): DefinedName[] {
  reader.hasVersion2 = true;
  const { cbor } = reader;
  let previous = "";
  const names = cbor.list(bounds.MAX_NAMES, () => {
    cbor.arrayOf(2);
    const name = cbor.text();
    const lowercase = name.toLowerCase();
    if (compareTexts(previous, lowercase) >= 0) throw malformed("names are empty or not in alphabetical order");
    previous = lowercase;
    const formula = cbor.text();
    if (!formula.startsWith("=")) throw malformed(`the name ${name} has no formula`);
    return { name, formula };
  });
  if (names.length === 0) throw malformed("a list of names is empty");
  return names;
}

/** Compares by code points, as UTF-8 does. */
function compareTexts(left: string, right: string): number {
  const [one, other] = [[...left], [...right]];
  for (let index = 0; index < Math.min(one.length, other.length); index += 1) {
    const difference = (one[index]?.codePointAt(0) ?? 0) - (other[index]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

function checkSheets({ sheets, sheetIds }: Root): void {
  if (sheets.length === 0) throw malformed("a root has no sheets");
  const distinct = (keys: readonly (string | number)[]) => new Set(keys).size === sheets.length;
  if (!distinct(sheets.map(({ sheet }) => sheet))) throw malformed("two sheets have the same number");
  if (!distinct(sheets.map(({ name }) => name.toLowerCase()))) throw malformed("two sheets have the same name");
  if (sheetIds.kind !== "inline") return;
  for (const { sheet } of sheets) {
    const isUsed = sheetIds.spans.some(({ first, count }) => first <= sheet && sheet < first + count);
    if (!isUsed) throw malformed(`the sheet ${sheet} is not among the used numbers`);
  }
}

function checkLevels({ levels, position }: Root): void {
  atMost(levels.length, bounds.MAX_LEVELS, "the number of levels");
  let previous: number | undefined;
  for (const { after, last } of levels) {
    if (after !== previous) throw malformed("a level does not follow the next older one");
    if (last < (after ?? 0)) throw malformed("a level ends before it begins");
    previous = last;
  }
  if (previous !== undefined && previous !== position) throw malformed("the newest level does not end at the root's position");
}
