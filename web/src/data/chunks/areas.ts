/** The cells that formulas read: `reads` of tiles and sheets, and `outdated` of roots. */

import type { CborReader } from "./cbor";
import { atMost, malformed } from "./format-error";
import { SHEET_ID_LIMIT } from "./bounds";
import { MAX_COLUMNS, MAX_ROWS } from "./bounds";

/** A rectangle of cells. Ends are those after the last row and column. */
export interface Area {
  sheet: number;
  firstRow: number;
  endRow: number;
  firstColumn: number;
  endColumn: number;
}

/** What formulas read. `facts` is a sum of powers of two; see the format. */
export interface Reads {
  facts: number;
  areas: Area[];
}

const NUMBERS_PER_AREA = 5;
const MAX_FACTS = 1_023;
/** Names cells of more sheets than a list can contain. */
const OF_MANY_SHEETS = 256;

export function readAreas(cbor: CborReader, maxAreas: number): Area[] {
  const numbers = cbor.integers(SHEET_ID_LIMIT);
  if (numbers.length % NUMBERS_PER_AREA !== 0) throw malformed("an area has less than five numbers");
  atMost(numbers.length / NUMBERS_PER_AREA, maxAreas, "the number of areas");
  const areas: Area[] = [];
  for (let at = 0; at < numbers.length; at += NUMBERS_PER_AREA) {
    const [sheet = 0, firstRow = 0, rows = 0, firstColumn = 0, columns = 0] = numbers.slice(at);
    const area = { sheet, firstRow, endRow: firstRow + rows, firstColumn, endColumn: firstColumn + columns };
    const isInside = rows > 0 && columns > 0 && area.endRow <= MAX_ROWS && area.endColumn <= MAX_COLUMNS;
    if (!isInside || sheet >= SHEET_ID_LIMIT) throw malformed("an area is empty or outside of a sheet");
    areas.push(area);
  }
  return areas;
}

export function readReads(cbor: CborReader, maxAreas: number): Reads {
  cbor.arrayOf(2);
  const facts = cbor.integer(MAX_FACTS);
  const areas = readAreas(cbor, maxAreas);
  if ((facts & OF_MANY_SHEETS) !== 0 && areas.length > 0) throw malformed("reads of too many sheets have areas");
  areas.forEach((area, index) => {
    const earlier = areas.slice(0, index);
    const last = earlier[index - 1];
    if (last !== undefined && !isBefore(last, area)) throw malformed("areas are not in ascending order");
    if (earlier.some((other) => canUnite(other, area))) throw malformed("areas are not united");
  });
  return { facts, areas };
}

function isBefore(left: Area, right: Area): boolean {
  const order = (area: Area) => [area.sheet, area.firstRow, area.firstColumn, area.endRow, area.endColumn];
  const others = order(right);
  const difference = order(left).map((value, index) => value - (others[index] ?? 0)).find((value) => value !== 0);
  return difference !== undefined && difference < 0;
}

/** Returns whether the union of two areas is a rectangle. */
function canUnite(left: Area, right: Area): boolean {
  if (left.sheet !== right.sheet) return false;
  const containsRows = (one: Area, other: Area) => one.firstRow <= other.firstRow && other.endRow <= one.endRow;
  const containsColumns = (one: Area, other: Area) =>
    one.firstColumn <= other.firstColumn && other.endColumn <= one.endColumn;
  const touchesRows = left.firstRow <= right.endRow && right.firstRow <= left.endRow;
  const touchesColumns = left.firstColumn <= right.endColumn && right.firstColumn <= left.endColumn;
  const [sameRows, sameColumns] = [
    containsRows(left, right) && containsRows(right, left),
    containsColumns(left, right) && containsColumns(right, left),
  ];
  const isWithin = (one: Area, other: Area) => containsRows(one, other) && containsColumns(one, other);
  return (sameRows && touchesColumns) || (sameColumns && touchesRows) || isWithin(left, right) || isWithin(right, left);
}
