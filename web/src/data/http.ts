/** Sends requests with a token, a timeout and retries. */

import { AbortedError, isTransient, problemOf, ProblemError, UnreachableError } from "./api-error";
import { jitteredDelayMs, sleep, type Random } from "./backoff";
import { MalformedReply } from "./decode";
import { MAX_ATTEMPTS, REQUEST_TIMEOUT_MS } from "./limits";

export interface HttpOptions {
  /** URL of the stack, without `/v1`. */
  url: string;
  /** Returns the bearer token. A share link's token is one too. It is never part of a URL. */
  getToken: () => string | Promise<string>;
  fetch?: typeof fetch;
  random?: Random;
  timeoutMs?: number;
  attempts?: number;
}

interface Target {
  path: string;
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  /** By default, POST for a request with a body, else GET. */
  method?: string;
  /** Whether the request outlives the page. */
  keepalive?: boolean;
  headers?: Record<string, string>;
}

export interface HttpRequest<T> extends Target {
  signal?: AbortSignal;
  /** Whether this layer may repeat the request. */
  repeatable: boolean;
  decode: (body: unknown) => T;
}

/** A reply, or null if the resource has not changed (304). */
export interface HttpReply<T> {
  body: T | null;
  etag: string | null;
}

export class Http {
  readonly #options: HttpOptions;
  readonly #random: Random;

  constructor(options: HttpOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
  }

  async send<T>(request: HttpRequest<T>): Promise<HttpReply<T>> {
    const attempts = request.repeatable ? (this.#options.attempts ?? MAX_ATTEMPTS) : 1;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#sendOnce(request);
      } catch (error) {
        if (attempt >= attempts || !isTransient(error)) throw error;
        await sleep(this.#retryDelayMs(error, attempt), request.signal);
        if (request.signal?.aborted === true) throw new AbortedError("the request was ended");
      }
    }
  }

  /** Reads a stream of text until it ends or the signal is aborted. */
  async *stream(path: string, signal: AbortSignal): AsyncGenerator<string> {
    const decoder = new TextDecoder();
    try {
      const response = await this.#fetch({ path }, signal);
      if (!response.ok) throw await problemOf(response);
      const reader = response.body?.getReader();
      for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
        yield decoder.decode(part.value, { stream: true });
      }
    } catch (error) {
      throw classify(error, undefined);
    }
  }

  #retryDelayMs(error: unknown, attempt: number): number {
    const BASE_MS = 200;
    const MAX_MS = 5_000;
    const askedMs = error instanceof ProblemError ? error.retryAfterMs : null;
    return Math.max(askedMs ?? 0, jitteredDelayMs(attempt, BASE_MS, MAX_MS, this.#random));
  }

  async #sendOnce<T>(request: HttpRequest<T>): Promise<HttpReply<T>> {
    const timeout = new AbortController();
    const end = () => timeout.abort();
    const timer = setTimeout(end, this.#options.timeoutMs ?? REQUEST_TIMEOUT_MS);
    request.signal?.addEventListener("abort", end);
    try {
      // Checked here too: the signal of a request that waited may have been aborted before.
      if (request.signal?.aborted === true) throw new AbortedError("the request was ended");
      return await readReply(await this.#fetch(request, timeout.signal), request.decode);
    } catch (error) {
      throw classify(error, request.signal);
    } finally {
      clearTimeout(timer);
      request.signal?.removeEventListener("abort", end);
    }
  }

  async #fetch(request: Target, signal: AbortSignal): Promise<Response> {
    const token = await unlessAborted(this.#options.getToken(), signal);
    const headers: Record<string, string> = { authorization: `Bearer ${token}`, ...request.headers };
    if (request.body !== undefined) headers["content-type"] = "application/json";
    // Looked up at each call, so that a page can replace it, for example in tests.
    const send = this.#options.fetch ?? globalThis.fetch;
    return send(this.#urlOf(request), {
      method: request.method ?? (request.body === undefined ? "GET" : "POST"),
      keepalive: request.keepalive ?? false,
      headers,
      signal,
      // The HTTP cache would answer with an old position, and with a reply of another user.
      cache: "no-store",
      credentials: "omit",
      referrerPolicy: "no-referrer",
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    });
  }

  #urlOf(request: Target): string {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) query.set(name, String(value));
    }
    const suffix = query.size === 0 ? "" : `?${query.toString()}`;
    return `${this.#options.url.replace(/\/+$/, "")}/v1${request.path}${suffix}`;
  }
}

/** A page that renews its token may wait for the user, so that the timeout must also count here. */
async function unlessAborted<T>(value: T | Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("the request was ended")));
    Promise.resolve(value).then(resolve, reject);
  });
}

async function readReply<T>(response: Response, decode: (body: unknown) => T): Promise<HttpReply<T>> {
  const etag = response.headers.get("etag");
  if (response.status === 304) return { body: null, etag };
  if (!response.ok) throw await problemOf(response);
  let body: unknown;
  const text = await response.text();
  try {
    body = JSON.parse(text);
  } catch {
    throw new MalformedReply("the reply is not JSON");
  }
  return { body: decode(body), etag };
}

function classify(error: unknown, signal: AbortSignal | undefined): unknown {
  if (error instanceof ProblemError || error instanceof MalformedReply) return error;
  if (signal?.aborted === true) return new AbortedError("the request was ended");
  const why = error instanceof Error ? error.message : "unknown";
  return new UnreachableError(`the server did not respond: ${why}`);
}
