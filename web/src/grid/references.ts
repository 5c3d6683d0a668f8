import { columnIndex, columnName } from "./address";
import { MAX_COLUMNS, MAX_ROWS } from "./limits";

// Text in quotes and quoted sheet names are matched first, so that they are skipped. The look-around keeps names
// such as `LOG10(` and `A1B` out.
const TOKEN = /"(?:[^"]|"")*"|'(?:[^']|'')*'|(?<![A-Za-z0-9_.$])(\$?)([A-Za-z]{1,4})(\$?)(\d{1,10})(?![A-Za-z0-9_.(])/g;

/** Returns a formula as it is after copying it by some rows and columns. References with `$` do not move. */
export function moveReferences(formula: string, rows: number, columns: number): string {
  if (rows === 0 && columns === 0) return formula;
  return formula.replace(TOKEN, (token: string, fixedColumn?: string, letters?: string, fixedRow?: string, digits?: string) => {
    if (letters === undefined || digits === undefined) return token;
    const column = columnIndex(letters.toUpperCase()) + (fixedColumn ? 0 : columns);
    const row = Number(digits) - 1 + (fixedRow ? 0 : rows);
    const isInside = row >= 0 && row < MAX_ROWS && column >= 0 && column < MAX_COLUMNS;
    return isInside ? `${fixedColumn}${columnName(column)}${fixedRow}${row + 1}` : "#REF!";
  });
}
