/** A proxy before a stack that loses, repeats and delays requests. */

import { createServer, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";

/** `loseReply`: the stack gets the request, the client no answer. `hold`: neither, and the connection stays open. */
export type Fault = "none" | "loseRequest" | "loseReply" | "double" | "hold";

export interface Plan {
  fault: Fault;
  delayMs: number;
}

export type Planner = (method: string, path: string) => Plan;

export interface FaultProxy {
  url: string;
  plan: Planner;
  /** How often each fault happened, so that a test can prove that it met some. */
  counts: Record<Fault, number>;
  close(): Promise<void>;
}

interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export const NO_FAULTS: Planner = () => ({ fault: "none", delayMs: 0 });
export const OFFLINE: Planner = () => ({ fault: "loseRequest", delayMs: 0 });

export async function startFaultProxy(stack: string): Promise<FaultProxy> {
  const proxy: Omit<FaultProxy, "url" | "close"> = {
    plan: NO_FAULTS,
    counts: { none: 0, loseRequest: 0, loseReply: 0, double: 0, hold: 0 },
  };
  const server = createServer((request, response) => void handle(stack, proxy, request, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return Object.assign(proxy, {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

async function handle(stack: string, proxy: Pick<FaultProxy, "plan" | "counts">, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = "GET", url = "/" } = request;
  // Streams of hints are passed on as they come: they may be lost by design.
  if (url.endsWith("/pokes")) return passOn(stack, request, response);
  const body = await bytesOf(request);
  // The page itself always arrives.
  const { fault, delayMs } = url.startsWith("/v1/") ? proxy.plan(method, url) : NO_FAULTS(method, url);
  proxy.counts[fault] += 1;
  await sleep(delayMs);
  if (fault === "hold") return;
  if (fault === "loseRequest") return void response.destroy();
  const send = () => forward(new URL(url, stack), method, request.headers, body);
  const replies = [await send()];
  if (fault === "double") replies.push(await send());
  if (fault === "loseReply") return void response.destroy();
  const reply = replies[replies.length - 1]!;
  response.writeHead(reply.status, reply.headers).end(reply.body);
}

async function forward(url: URL, method: string, { host: _host, ...headers }: IncomingHttpHeaders, body: Buffer): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const onward = httpRequest(url, { method, headers }, (reply) => {
      bytesOf(reply).then((bytes) => resolve({ status: reply.statusCode ?? 502, headers: reply.headers, body: bytes }), reject);
    });
    onward.on("error", reject);
    onward.end(body);
  });
}

function passOn(stack: string, request: IncomingMessage, response: ServerResponse): void {
  const { host: _host, ...headers } = request.headers;
  const onward = httpRequest(new URL(request.url ?? "/", stack), { method: request.method, headers }, (reply) => {
    response.writeHead(reply.statusCode ?? 502, reply.headers);
    reply.pipe(response);
  });
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  request.pipe(onward);
}

async function bytesOf(stream: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

function sleep(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}

/** Draws faults at random, the same ones for the same seed. */
export function randomFaults(seed: number, share = 0.3, maxDelayMs = 300): Planner {
  const random = randomNumbers(seed);
  const faults: Fault[] = ["loseRequest", "loseReply", "double"];
  return () => {
    const fault = random() < share ? faults[Math.floor(random() * faults.length)]! : "none";
    return { fault, delayMs: Math.floor(random() * maxDelayMs) };
  };
}

/** Mulberry32. */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
