/** Keeps objects in the browser's Cache Storage, by their hashes, up to a number of bytes. */

import { CHUNK_CACHE } from "../forget-cells";
import type { ObjectCache } from "./object-store";

const MAX_CACHED_BYTES = 64 * 2 ** 20;
/** How much is removed at once, so that not each new object removes another one. */
const KEPT_SHARE = 0.75;
const SIZE_HEADER = "x-cellar-bytes";

/** Returns undefined where there is no Cache Storage, such as in pages without HTTPS. */
export function cacheStorage(name = CHUNK_CACHE, maxBytes = MAX_CACHED_BYTES): ObjectCache | undefined {
  return typeof caches === "undefined" ? undefined : new StoredObjects(name, maxBytes);
}

class StoredObjects implements ObjectCache {
  #cache: Promise<Cache> | undefined;
  /** Bytes since the last count, undefined before the first one. */
  #bytes: number | undefined;
  #trim: Promise<void> = Promise.resolve();

  constructor(
    private readonly name: string,
    private readonly maxBytes: number,
  ) {}

  async #open(): Promise<Cache> {
    this.#cache ??= caches.open(this.name);
    return this.#cache;
  }

  async get(hash: string): Promise<Uint8Array | undefined> {
    const reply = await (await this.#open()).match(keyOf(hash));
    return reply && new Uint8Array(await reply.arrayBuffer());
  }

  async put(hash: string, bytes: Uint8Array): Promise<void> {
    const headers = { [SIZE_HEADER]: String(bytes.length), "content-type": "application/octet-stream" };
    await (await this.#open()).put(keyOf(hash), new Response(Uint8Array.from(bytes), { headers }));
    this.#trim = this.#trim.then(() => this.#countAndTrim(bytes.length)).catch(() => undefined);
    await this.#trim;
  }

  async delete(hash: string): Promise<void> {
    await (await this.#open()).delete(keyOf(hash));
  }

  async #countAndTrim(added: number): Promise<void> {
    if (this.#bytes !== undefined) this.#bytes += added;
    if (this.#bytes !== undefined && this.#bytes <= this.maxBytes) return;
    const cache = await this.#open();
    // The keys are in the order in which they were added.
    const entries = await Promise.all((await cache.keys()).map(async (key) => ({ key, bytes: await sizeOf(cache, key) })));
    let total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total > this.maxBytes) {
      for (const { key, bytes } of entries) {
        if (total <= this.maxBytes * KEPT_SHARE) break;
        await cache.delete(key);
        total -= bytes;
      }
    }
    this.#bytes = total;
  }
}

async function sizeOf(cache: Cache, key: Request): Promise<number> {
  return Number((await cache.match(key))?.headers.get(SIZE_HEADER)) || 0;
}

/** A path of its own, which no request of the page has. */
function keyOf(hash: string): string {
  return `/cellar-chunks/${hash}`;
}
