/** Sends the requests of the HTTP API that are not about the cells of an open sheet. */

import { AbortedError, ProblemError, problemOf, UnreachableError } from "../data/api-error";
import { fieldsOf, MalformedReply, textOf } from "../data/decode";

export interface StackOptions {
  /** URL of the stack, without `/v1`. */
  url: string;
  /** Returns the bearer token: of the user, or of a share link. */
  getToken: () => string | Promise<string>;
  fetch?: typeof fetch;
  timeoutMs?: number;
}

export type QueryValue = string | number | boolean | undefined;

export interface StackRequest<T> {
  /** `GET`, or `POST` if there is a body. */
  method?: "GET" | "POST" | "PATCH" | "DELETE";
  /** Path after `/v1`, such as `/spreadsheets`. */
  path: string;
  query?: Record<string, QueryValue>;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  decode: (body: unknown) => T;
}

export interface StackReply<T> {
  body: T;
  etag: string | null;
}

export interface StackClient {
  readonly url: string;
  readonly getToken: () => string | Promise<string>;
  /** Throws ProblemError, UnreachableError, AbortedError or MalformedReply. Repeats nothing. */
  send<T>(request: StackRequest<T>): Promise<StackReply<T>>;
}

/** A problem with the title of its type. */
export class TitledProblem extends ProblemError {
  constructor(
    problem: ProblemError,
    readonly title: string,
  ) {
    super(problem.problem, problem.status, problem.detail, problem.retryAfterMs);
  }
}

const DEFAULT_TIMEOUT_MS = 20_000;

export function createStackClient(options: StackOptions): StackClient {
  const url = options.url.replace(/\/+$/, "");
  return {
    url,
    getToken: options.getToken,
    send: (request) => sendRequest({ ...options, url }, request),
  };
}

/** Returns the path of a spreadsheet, such as `/spreadsheets/ID/details`. */
export function spreadsheetPath(id: string, rest = ""): string {
  return `/spreadsheets/${encodeURIComponent(id)}${rest}`;
}

async function sendRequest<T>(options: StackOptions, request: StackRequest<T>): Promise<StackReply<T>> {
  const timeout = AbortSignal.timeout(options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  const signal = request.signal === undefined ? timeout : AbortSignal.any([timeout, request.signal]);
  try {
    const token = await options.getToken();
    const send = options.fetch ?? globalThis.fetch;
    const response = await send(urlOf(options.url, request), requestInit(request, token, signal));
    return await readReply(response, request.decode);
  } catch (error) {
    throw classify(error, request.signal);
  }
}

function requestInit<T>(request: StackRequest<T>, token: string, signal: AbortSignal): RequestInit {
  const hasBody = request.body !== undefined;
  return {
    method: request.method ?? (hasBody ? "POST" : "GET"),
    headers: {
      authorization: `Bearer ${token}`,
      ...(hasBody ? { "content-type": "application/json" } : {}),
      ...request.headers,
    },
    signal,
    // The HTTP cache would answer with the reply of another user.
    cache: "no-store",
    credentials: "omit",
    referrerPolicy: "no-referrer",
    ...(hasBody ? { body: JSON.stringify(request.body) } : {}),
  };
}

function urlOf<T>(url: string, request: StackRequest<T>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(request.query ?? {})) {
    if (value !== undefined) query.set(name, String(value));
  }
  return `${url}/v1${request.path}${query.size === 0 ? "" : `?${query.toString()}`}`;
}

async function readReply<T>(response: Response, decode: (body: unknown) => T): Promise<StackReply<T>> {
  if (!response.ok) throw await titledProblemOf(response);
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new MalformedReply("the reply is not JSON");
  }
  return { body: decode(body), etag: response.headers.get("etag") };
}

async function titledProblemOf(response: Response): Promise<TitledProblem> {
  const copy = response.clone();
  const problem = await problemOf(response);
  try {
    const title = textOf(fieldsOf(await copy.json(), "a problem").title, "the title of a problem");
    return new TitledProblem(problem, title);
  } catch {
    return new TitledProblem(problem, "The server reported a problem");
  }
}

function classify(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true) return new AbortedError("the request was ended");
  const isFinal = error instanceof ProblemError || error instanceof MalformedReply || error instanceof UnreachableError;
  if (isFinal) return error;
  return new UnreachableError(`the server did not respond: ${error instanceof Error ? error.message : "unknown"}`);
}
