/** The worker that reads windows from chunks, as a source of windows. */

import type { ReadWindow } from "./chunks/window-reader";
import type { FromWorker, ToWorker } from "./chunks/worker-messages";
import { ChunkWindows, type ChunkRoot, type WindowSource } from "./chunk-windows";
import type { Session } from "./session";
import type { Range } from "./types";

/** Address of the worker's file, relative to this one. Not defined in a bundle that has no worker. */
declare const CHUNK_WORKER: string;

interface Waiting {
  resolve: (result: never) => void;
  reject: (error: Error) => void;
}

/** Returns null where there is no worker: decoding chunks in the page would stop it for too long. */
export function chunkWindowsOf({ api, view }: Session, now: () => number, url?: string | URL): ChunkWindows | null {
  if (typeof Worker === "undefined" || (url === undefined && typeof CHUNK_WORKER !== "string")) return null;
  const windows = new ChunkWindows(api, view.canonical, (root, urls) => openChunkWorker(startWorker(url), root, urls), now);
  void windows.open();
  return windows;
}

function startWorker(url: string | URL | undefined): Worker {
  // Bundlers find the file by this form.
  return url === undefined ? new Worker(new URL(CHUNK_WORKER, import.meta.url), { type: "module" }) : new Worker(url, { type: "module" });
}

async function openChunkWorker(worker: Worker, root: ChunkRoot, chunkUrls: (hashes: readonly string[]) => Promise<string[]>): Promise<WindowSource> {
  const client = new WorkerClient(worker, chunkUrls);
  try {
    const position = await client.ask<number>({ kind: "open", ...root });
    const read = (sheet: number, range: Range) => client.ask<ReadWindow | null>({ kind: "read", sheet, range });
    return { position, read, close: () => client.end("the sheet was closed") };
  } catch (error) {
    client.end("the root cannot be read");
    throw error;
  }
}

type Question = { kind: "open"; root: string; rootUrl: string } | { kind: "read"; sheet: number; range: Range };

class WorkerClient {
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;

  constructor(
    private readonly worker: Worker,
    private readonly chunkUrls: (hashes: readonly string[]) => Promise<string[]>,
  ) {
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#receive(data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.end("the worker failed");
    };
  }

  ask<T>(question: Question): Promise<T> {
    const id = this.#nextId++;
    this.#send({ ...question, id });
    return new Promise<T>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  #send(message: ToWorker): void {
    this.worker.postMessage(message);
  }

  #receive(message: FromWorker): void {
    const { kind, id } = message;
    if (kind === "urls") {
      const answer = (urls: string[] | null) => this.#send({ kind, id, urls });
      this.chunkUrls(message.hashes).then(answer, () => answer(null));
      return;
    }
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (kind === "result") waiting?.resolve(message.result as never);
    else waiting?.reject(new Error(message.reason));
  }

  end(reason: string): void {
    this.worker.terminate();
    for (const { reject } of this.#waiting.values()) reject(new Error(reason));
    this.#waiting.clear();
  }
}
