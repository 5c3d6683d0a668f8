/** What a page keeps in the storage of the browser. */

import type { Page } from "playwright-core";

/** Returns everything in local storage, IndexedDB, Cache Storage (addresses only) and cookies as one text. */
export async function storedText(page: Page): Promise<string> {
  const cookies = await page.context().cookies();
  const stored = await page.evaluate(async () => {
    const parts: unknown[] = [{ ...localStorage }];
    for (const { name } of await indexedDB.databases()) {
      const database = await new Promise<IDBDatabase>((resolve, reject) => {
        const opening = indexedDB.open(name!);
        opening.onsuccess = () => resolve(opening.result);
        opening.onerror = () => reject(opening.error);
      });
      for (const store of database.objectStoreNames) {
        const all = database.transaction(store).objectStore(store).getAll();
        parts.push(await new Promise((resolve) => (all.onsuccess = () => resolve(all.result))));
      }
      database.close();
    }
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      parts.push((await cache.keys()).map(({ url }) => url));
    }
    return JSON.stringify(parts);
  });
  return JSON.stringify(cookies) + stored;
}
