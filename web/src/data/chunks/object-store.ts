/** Loads objects by their hashes: from memory, from Cache Storage, or from the bucket. */

import { FormatError } from "./format-error";
import { HASH_PATTERN } from "./hash";
import type { ObjectBounds } from "./stored";
import { CHUNK, unpack } from "./stored";

const MAX_CONCURRENT_DOWNLOADS = 6;
const MAX_HASHES_PER_REQUEST = 1_000;

/** What the store needs from the network. */
export interface ChunkPort {
  /** Returns download URLs, in the order of the hashes: `POST …/chunks`. */
  chunkUrls(hashes: readonly string[], signal?: AbortSignal): Promise<string[]>;
  /** Downloads an object. Throws unless the reply is complete. */
  download(url: string, maxBytes: number, signal?: AbortSignal): Promise<Uint8Array>;
}

/** Objects that stay when the page is closed. A failure is never an error: the object is downloaded. */
export interface ObjectCache {
  get(hash: string): Promise<Uint8Array | undefined>;
  put(hash: string, bytes: Uint8Array): Promise<void>;
  delete(hash: string): Promise<void>;
}

export const NO_CACHE: ObjectCache = {
  get: async () => undefined,
  put: async () => undefined,
  delete: async () => undefined,
};

export class ObjectStore {
  readonly #loads = new Map<string, Promise<Uint8Array>>();
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(
    private readonly port: ChunkPort,
    private readonly cache: ObjectCache = NO_CACHE,
  ) {}

  /** Returns the contents of chunks, each verified by its hash. */
  async chunks(hashes: readonly string[], signal?: AbortSignal): Promise<Map<string, Uint8Array>> {
    const found = new Map<string, Uint8Array>();
    await Promise.all(
      hashes.map(async (hash) => {
        const bytes = await this.#cached(hash, CHUNK);
        if (bytes !== undefined) found.set(hash, bytes);
      }),
    );
    const missing = hashes.filter((hash) => !found.has(hash));
    for (let first = 0; first < missing.length; first += MAX_HASHES_PER_REQUEST) {
      const some = missing.slice(first, first + MAX_HASHES_PER_REQUEST);
      const urls = await this.port.chunkUrls(some, signal);
      if (urls.length !== some.length) throw new FormatError("malformed", `${urls.length} URLs are given for ${some.length} chunks`);
      const loads = some.map((hash, index) => this.#load(hash, urls[index] ?? "", CHUNK, signal));
      (await settled(loads)).forEach((bytes, index) => found.set(some[index] ?? "", bytes));
    }
    return found;
  }

  /** Returns the content of an object whose URL is known. */
  async object(hash: string, url: string, limits: ObjectBounds, signal?: AbortSignal): Promise<Uint8Array> {
    return (await this.#cached(hash, limits)) ?? this.#load(hash, url, limits, signal);
  }

  /** A cache is not trusted: a damaged object is removed and downloaded again. */
  async #cached(hash: string, limits: ObjectBounds): Promise<Uint8Array | undefined> {
    if (!HASH_PATTERN.test(hash)) throw new FormatError("malformed", `${hash} is no hash`);
    try {
      const bytes = await this.cache.get(hash);
      return bytes && (await unpack(bytes, hash, limits));
    } catch {
      await this.cache.delete(hash).catch(() => undefined);
      return undefined;
    }
  }

  /** Joins downloads of the same object, unless the first one was ended. */
  #load(hash: string, url: string, limits: ObjectBounds, signal?: AbortSignal): Promise<Uint8Array> {
    const running = this.#loads.get(hash);
    const start = () => this.#download(hash, url, limits, signal);
    const load = running === undefined ? start() : running.catch(start);
    this.#loads.set(hash, load);
    const forget = () => void (this.#loads.get(hash) === load && this.#loads.delete(hash));
    load.then(forget, forget);
    return load;
  }

  async #download(hash: string, url: string, limits: ObjectBounds, signal?: AbortSignal): Promise<Uint8Array> {
    await this.#enter();
    try {
      signal?.throwIfAborted();
      // A browser that knows zstd has decompressed the object already.
      const maxBytes = Math.max(limits.storedBytes, limits.plainBytes);
      const bytes = await this.port.download(url, maxBytes, signal);
      const plain = await unpack(bytes, hash, limits);
      // What cannot be kept is downloaded again.
      this.cache.put(hash, bytes).catch(() => undefined);
      return plain;
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#running >= MAX_CONCURRENT_DOWNLOADS) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
  }

  /** Passes the place to the next one that waits. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}

/** Waits for all, so that no rejection is unhandled, and throws the first error. */
async function settled<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(promises);
  return results.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
}
