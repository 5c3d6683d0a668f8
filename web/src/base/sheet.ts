/** What the grid, the data layer and the client of the stack all know about a sheet. */

export const MAX_ROWS = 2 ** 30;
export const MAX_COLUMNS = 2 ** 22;

/** Returns the letters of a column, such as `AB` for 27. */
export function columnName(column: number): string {
  const LETTERS = 26;
  const FIRST_LETTER = 65;
  let name = "";
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / LETTERS)) {
    name = String.fromCharCode(FIRST_LETTER + ((rest - 1) % LETTERS)) + name;
  }
  return name;
}

/** Returns the address of a cell, such as `B2`. */
export function cellName(row: number, column: number): string {
  return columnName(column) + (row + 1);
}
