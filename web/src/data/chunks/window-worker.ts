/**
 * Reads windows from chunks in a worker: a chunk has the cells of many windows, and decoding one
 * would stop the page for longer than a frame.
 */

import { cacheStorage, download, WindowReader } from "./window-reader";
import type { FromWorker, ToWorker } from "./worker-messages";

const scope = globalThis as unknown as {
  postMessage(message: FromWorker): void;
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
};
const urlRequests = new Map<number, { resolve: (urls: string[]) => void; reject: (error: Error) => void }>();
let nextRequest = 1;
let reader: Promise<WindowReader> | undefined;

/** The page has the token, so that it asks for the URLs. */
function chunkUrls(hashes: readonly string[]): Promise<string[]> {
  const id = nextRequest++;
  scope.postMessage({ kind: "urls", id, hashes });
  return new Promise((resolve, reject) => urlRequests.set(id, { resolve, reject }));
}

async function open(root: string, rootUrl: string): Promise<WindowReader> {
  return WindowReader.open({ port: { chunkUrls, download }, cache: cacheStorage(), root, rootUrl });
}

scope.onmessage = ({ data }) => {
  if (data.kind === "urls") {
    const request = urlRequests.get(data.id);
    urlRequests.delete(data.id);
    if (data.urls === null) request?.reject(new Error("the stack gave no URLs of chunks"));
    else request?.resolve(data.urls);
    return;
  }
  if (data.kind === "open") reader = open(data.root, data.rootUrl);
  const { id } = data;
  const work = data.kind === "open" ? reader?.then(({ position }) => position) : reader?.then((opened) => opened.read(data.sheet, data.range));
  work?.then(
    (result) => scope.postMessage({ kind: "result", id, result }),
    (error: unknown) => scope.postMessage({ kind: "failed", id, reason: String(error) }),
  );
};
