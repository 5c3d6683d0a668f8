import { columnIndex, columnName } from "./address";
import type { Area, Coordinate } from "./formula-area";
import { tokenize, type Token } from "./formula-tokens";
import { MAX_COLUMNS, MAX_ROWS } from "./limits";

/** Returns a formula as it is after copying it by some rows and columns. Coordinates with `$` do not move. */
export function moveReferences(formula: string, rows: number, columns: number): string {
  if (rows === 0 && columns === 0) return formula;
  return mapReferences(formula, (token, text) => {
    if (!token.area) return text;
    const area: Area = {
      isRange: token.area.isRange,
      rows: moved(token.area.rows, rows, MAX_ROWS),
      columns: moved(token.area.columns, columns, MAX_COLUMNS),
    };
    const isLost = (token.area.rows && !area.rows) || (token.area.columns && !area.columns);
    return sheetPrefix(text) + (isLost ? "#REF!" : areaText(area));
  });
}

/** Returns a formula with each of its references replaced by the result of a function. */
function mapReferences(formula: string, change: (token: Token, text: string) => string): string {
  return tokenize(formula).map((token) => {
    const text = formula.slice(token.start, token.end);
    return token.kind === "reference" ? change(token, text) : text;
  }).join("");
}

function moved(ends: Area["rows"], by: number, count: number): Area["rows"] {
  if (!ends) return null;
  const [first, last] = ends.map((end) => (end.isAbsolute ? end : { ...end, index: end.index + by }));
  const isInside = [first, last].every((end) => end!.index >= 0 && end!.index < count);
  return isInside ? sorted(first!, last!) : null;
}

function sorted(one: Coordinate, other: Coordinate): [Coordinate, Coordinate] {
  return one.index <= other.index ? [one, other] : [other, one];
}

/** Returns an area as the server writes it, such as `A$1:B2`. */
function areaText(area: Area): string {
  const end = (side: 0 | 1): string => {
    const [row, column] = [area.rows?.[side], area.columns?.[side]];
    const columnText = column ? (column.isAbsolute ? "$" : "") + columnName(column.index) : "";
    return columnText + (row ? (row.isAbsolute ? "$" : "") + (row.index + 1) : "");
  };
  return area.isRange ? `${end(0)}:${end(1)}` : end(0);
}

/** Returns the sheet name and its `!` at the start of a reference, or "". */
function sheetPrefix(text: string): string {
  return /^(?:'(?:[^']|'')*'|[^!#']*)!/.exec(text)?.[0] ?? "";
}

const CYCLE = ["both", "row", "column", "none"] as const;

/** Returns a reference with the next combination of `$`, like F4: `A1`, `$A$1`, `A$1`, `$A1`. */
export function cycleAbsolute(text: string): string {
  const token = tokenize(text).find(({ kind }) => kind === "reference");
  if (!token?.area) return text;
  const { rows, columns } = token.area;
  const current = fixedOf(rows, columns);
  // Whole rows and columns have one coordinate for each end, so `$` is there or not.
  const order = rows && columns ? CYCLE : (["both", "none"] as const);
  const next = order[(order.indexOf(current as never) + 1) % order.length]!;
  const fix = (ends: Area["rows"], isAbsolute: boolean): Area["rows"] => ends && [{ ...ends[0], isAbsolute }, { ...ends[1], isAbsolute }];
  const area = { isRange: token.area.isRange, rows: fix(rows, next === "both" || next === "row"), columns: fix(columns, next === "both" || next === "column") };
  return sheetPrefix(text) + areaText(area);
}

function fixedOf(rows: Area["rows"], columns: Area["columns"]): (typeof CYCLE)[number] {
  const isRowFixed = rows?.[0].isAbsolute ?? false;
  const isColumnFixed = columns?.[0].isAbsolute ?? false;
  if (!rows || !columns) return isRowFixed || isColumnFixed ? "both" : "none";
  if (isRowFixed) return isColumnFixed ? "both" : "row";
  return isColumnFixed ? "column" : "none";
}

/** Returns a sheet name as it is written before `!`, in quotes if it could be read otherwise. */
export function sheetText(name: string): string {
  const isPlain = /^[\p{Alphabetic}_][\p{Alphabetic}\p{N}_.]*$/u.test(name);
  const letters = /^([A-Za-z]+)\d+$/.exec(name)?.[1];
  const isCell = letters !== undefined && columnIndex(letters.toUpperCase()) < MAX_COLUMNS;
  const looksLikeOther = isCell || /^[RrCc\d]+$|^(?:true|false)$/i.test(name);
  return isPlain && !looksLikeOther ? name : `'${name.replaceAll("'", "''")}'`;
}
