import { describe, expect, it } from "vitest";
import { cacheStorage } from "../../src/data/chunks/cache-storage";
import { download } from "../../src/data/chunks/download";
import { FormatError } from "../../src/data/chunks/format-error";
import { hashOf } from "../../src/data/chunks/hash";
import type { ChunkPort, ObjectCache } from "../../src/data/chunks/object-store";
import { WindowReader } from "../../src/data/chunks/window-reader";
import { cborOf, hexBytes, tileOf } from "./chunks-support";

const RANGE = { firstRow: 0, rowCount: 500, firstColumn: 0, columnCount: 20 };
const TILES = 30;
const ROWS_PER_TILE = 10;

/** A root with one column of many tiles, each a chunk. */
function snapshot() {
  const objects = new Map<string, Uint8Array>();
  const add = (bytes: Uint8Array) => {
    objects.set(hashOf(bytes), bytes);
    return hashOf(bytes);
  };
  const tiles = Array.from({ length: TILES }, (_, index) => {
    const hash = add(tileOf(0, new Map([[index % ROWS_PER_TILE, `tile ${index}`]])));
    return [1, [0, [hexBytes(hash), 1]]];
  });
  const list = [[0, TILES, TILES * ROWS_PER_TILE, 0], tiles];
  const moves = new Map([[0, [[0, 0, 0]]], [1, [[0, 0, 0]]], [2, []], [3, []]] as [number, never][]);
  const level = new Map([[1, 7], [2, TILES], [3, 0], [4, [[0, [0, moves], [0, [[0, 1, 256, 0], [[0, list]]]], 0]]]] as [number, never][]);
  const sheet = new Map([[0, 0], [1, "S"], [2, [TILES * ROWS_PER_TILE, 1]], [3, [0, []]]] as [number, never][]);
  const fields = [[0, 7], [1, 8], [2, [sheet]], [3, [0, [0, 1]]], [4, [level]], [7, [0, 0]]];
  const root = add(cborOf([1, 1, new Map(fields as [number, never][])]));
  return { objects, root };
}

/** A bucket that can make faults, and counts what runs at once. */
class Bucket implements ChunkPort {
  readonly downloads: string[] = [];
  running = 0;
  mostRunning = 0;
  change: (hash: string, bytes: Uint8Array) => Uint8Array = (_, bytes) => bytes;

  constructor(private readonly objects: ReadonlyMap<string, Uint8Array>) {}

  async chunkUrls(hashes: readonly string[]): Promise<string[]> {
    return hashes.map((hash) => `bucket/${hash}`);
  }

  async download(url: string, _: number, signal?: AbortSignal): Promise<Uint8Array> {
    const hash = url.split("/")[1] ?? "";
    this.downloads.push(hash);
    this.running += 1;
    this.mostRunning = Math.max(this.mostRunning, this.running);
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.running -= 1;
    signal?.throwIfAborted();
    const bytes = this.objects.get(hash);
    if (bytes === undefined) throw new Error(`no object ${hash}`);
    return this.change(hash, bytes);
  }
}

class MapCache implements ObjectCache {
  readonly objects = new Map<string, Uint8Array>();
  get = async (hash: string) => this.objects.get(hash);
  put = async (hash: string, bytes: Uint8Array) => void this.objects.set(hash, bytes);
  delete = async (hash: string) => void this.objects.delete(hash);
}

const texts = Array.from({ length: TILES }, (_, index) => [index * ROWS_PER_TILE + (index % ROWS_PER_TILE), `tile ${index}`]);

async function readAll(port: ChunkPort, root: string, cache?: ObjectCache, signal?: AbortSignal) {
  const reader = await WindowReader.open({ port, root: `sheets/x/roots/${root}`, rootUrl: `bucket/${root}`, cache }, signal);
  const found = await reader.read(0, RANGE, signal);
  return found?.cells.map(({ row, value }) => [row, value]);
}

describe("a window reader", () => {
  const { objects, root } = snapshot();

  it("loads each chunk once, a few at a time", async () => {
    const bucket = new Bucket(objects);
    expect(await readAll(bucket, root)).toEqual(texts);
    expect(bucket.downloads).toHaveLength(TILES + 1);
    expect(bucket.mostRunning).toBeGreaterThan(3);
    expect(bucket.mostRunning).toBeLessThanOrEqual(6);
  });

  it("loads only the chunks of the window, and none again for windows that overlap", async () => {
    const bucket = new Bucket(objects);
    const reader = await WindowReader.open({ port: bucket, root, rootUrl: `bucket/${root}` });
    const windows = [0, 5, 15].map((firstRow) => reader.read(0, { ...RANGE, firstRow, rowCount: 10 }));
    const rows = (await Promise.all(windows)).map((found) => found?.cells.map(({ row }) => row));
    expect(rows).toEqual([[0], [11], [22]]);
    expect(bucket.downloads).toHaveLength(4);
  });

  it("needs no downloads if a cache has all objects", async () => {
    const cache = new MapCache();
    await readAll(new Bucket(objects), root, cache);
    const bucket = new Bucket(objects);
    expect(await readAll(bucket, root, cache)).toEqual(texts);
    expect(bucket.downloads).toEqual([]);
  });

  it("loads objects again that are damaged in the cache, or if the cache does not work", async () => {
    const cache = new MapCache();
    await readAll(new Bucket(objects), root, cache);
    for (const [hash, bytes] of cache.objects) cache.objects.set(hash, bytes.with(bytes.length - 1, 255));
    const bucket = new Bucket(objects);
    expect(await readAll(bucket, root, cache)).toEqual(texts);
    expect(bucket.downloads).toHaveLength(TILES + 1);
    const broken = async () => Promise.reject(new Error("the disk is full"));
    expect(await readAll(bucket, root, { get: broken, put: broken, delete: broken })).toEqual(texts);
  });

  it("refuses objects that are not those named, without a lost error, and reads when they are right again", async () => {
    const bucket = new Bucket(objects);
    bucket.change = (hash, bytes) => (hash === root ? bytes : bytes.with(8, 99));
    const cache = new MapCache();
    await expect(readAll(bucket, root, cache)).rejects.toThrow(FormatError);
    expect([...cache.objects.keys()]).toEqual([root]);
    bucket.change = (_, bytes) => bytes;
    expect(await readAll(bucket, root, cache)).toEqual(texts);
  });

  it("ends when it is aborted, and another read of the same chunks continues", async () => {
    const bucket = new Bucket(objects);
    const reader = await WindowReader.open({ port: bucket, root, rootUrl: `bucket/${root}` });
    const abort = new AbortController();
    const ended = reader.read(0, RANGE, abort.signal);
    const other = reader.read(0, RANGE);
    abort.abort(new Error("ended"));
    await expect(ended).rejects.toThrow("ended");
    expect((await other)?.cells).toHaveLength(TILES);
  });

  it("leaves sheets that the root does not have to the server", async () => {
    const reader = await WindowReader.open({ port: new Bucket(objects), root, rootUrl: `bucket/${root}` });
    expect(await reader.read(4, RANGE)).toBeNull();
  });
});

describe("a download", () => {
  const reply = (body: BodyInit | null, status = 200) => (async () => new Response(body, { status })) as typeof fetch;

  it("returns all bytes, and ends at the limit", async () => {
    const bytes = new Uint8Array(1_000).fill(7);
    expect(await download("x", 1_000, undefined, reply(bytes))).toEqual(bytes);
    await expect(download("x", 999, undefined, reply(bytes))).rejects.toThrow(FormatError);
    await expect(download("x", 999, undefined, reply("expired", 403))).rejects.toThrow("403");
  });
});

describe("Cache Storage", () => {
  it("is not used where it does not exist", () => expect(cacheStorage()).toBeUndefined());

  it("keeps the newest objects within its limit", async () => {
    const stored = new Map<string, Response>();
    const cache = {
      match: async (key: string | { url: string }) => stored.get(typeof key === "string" ? key : key.url)?.clone(),
      put: async (key: string, value: Response) => void stored.set(key, value),
      delete: async (key: string | { url: string }) => stored.delete(typeof key === "string" ? key : key.url),
      keys: async () => [...stored.keys()].map((url) => ({ url })),
    };
    Object.assign(globalThis, { caches: { open: async () => cache } });
    const objects = cacheStorage("test", 1_000);
    for (let index = 0; index < 30; index += 1) await objects?.put(`object ${index}`, new Uint8Array(100).fill(index));
    Reflect.deleteProperty(globalThis, "caches");
    expect(await objects?.get("object 29")).toEqual(new Uint8Array(100).fill(29));
    expect(await objects?.get("object 3")).toBeUndefined();
    expect(stored.size).toBeLessThanOrEqual(10);
    expect(stored.size).toBeGreaterThanOrEqual(7);
  });
});
