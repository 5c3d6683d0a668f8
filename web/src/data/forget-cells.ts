export const CELL_DATABASE = "cellar-cells";
export const CHUNK_CACHE = "cellar-chunks-1";

/** Removes the stored cells and chunks of all spreadsheets from the browser, such as when the user signs out. */
export function forgetCells(): void {
  try {
    indexedDB.deleteDatabase(CELL_DATABASE);
    void caches.delete(CHUNK_CACHE).catch(() => undefined);
  } catch {
    // Without a database or a cache, nothing is stored.
  }
}
