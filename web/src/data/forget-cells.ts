export const CELL_DATABASE = "cellar-cells";

/** Removes the stored cells of all spreadsheets from the browser, such as when the user signs out. */
export function forgetCells(): void {
  try {
    indexedDB.deleteDatabase(CELL_DATABASE);
  } catch {
    // Without a database, nothing is stored.
  }
}
