/**
 * The service worker of the page: the page opens without a network. It stores the files of one build
 * under a name of that build, asks the network first for `index.html`, and never touches the API.
 */

declare const BUILD: string;
declare const FILES: readonly string[];

/** The part of the scope of a service worker that is used here. */
interface WorkerScope {
  readonly location: Location;
  readonly registration: { readonly scope: string };
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: string, listener: (event: never) => void): void;
}

interface LifetimeEvent {
  waitUntil(work: Promise<unknown>): void;
}

interface RequestEvent {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}

const PREFIX = "cellar-page-";
const CACHE = PREFIX + BUILD;
const NETWORK_WAIT_MS = 3_000;
const worker = globalThis as unknown as WorkerScope;
const base = worker.registration.scope;

async function storeFiles(): Promise<void> {
  const cache = await caches.open(CACHE);
  // Hashed files never change. The page itself may have changed a moment ago.
  const requests = ["", ...FILES].map((path) => new Request(new URL(path, base), { cache: path === "" ? "no-cache" : "default" }));
  await cache.addAll(requests.map((request) => new Request(request, { headers: { accept: "text/html,*/*" } })));
}

async function dropOtherBuilds(): Promise<void> {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(PREFIX) && name !== CACHE).map((name) => caches.delete(name)));
  await worker.clients.claim();
}

async function answerFile(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE);
  return (await cache.match(request, { ignoreVary: true })) ?? fetch(request);
}

async function answerPage(request: Request): Promise<Response> {
  const stored = await (await caches.open(CACHE)).match(base, { ignoreVary: true });
  try {
    const signal = stored === undefined ? null : AbortSignal.timeout(NETWORK_WAIT_MS);
    const response = await fetch(request, { signal });
    return response.ok || stored === undefined ? response : stored;
  } catch (error) {
    if (stored === undefined) throw error;
    return stored;
  }
}

function handleFetch(event: RequestEvent): void {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || !url.href.startsWith(base)) return;
  const path = url.href.slice(base.length).replace(/[?#].*$/, "");
  if (request.mode === "navigate" && path === "") event.respondWith(answerPage(request));
  else if (path.startsWith("assets/")) event.respondWith(answerFile(request));
}

worker.addEventListener("install", (event: LifetimeEvent) => event.waitUntil(storeFiles()));
worker.addEventListener("activate", (event: LifetimeEvent) => event.waitUntil(dropOtherBuilds()));
worker.addEventListener("message", ({ data }: MessageEvent) => {
  if (data === "activate") void worker.skipWaiting();
});
worker.addEventListener("fetch", handleFetch);
