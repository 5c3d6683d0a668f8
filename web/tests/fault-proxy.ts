/**
 * An HTTP proxy that drops, doubles and delays requests, and loses replies. A seed determines which
 * faults it makes, so that a failing test can be repeated as far as the timing allows.
 */

import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { SeededRandom } from "./data/random";

export type Fault = "drop" | "lose" | "cut" | "double" | "delayRequest" | "delayReply";

const FAULTS: readonly Fault[] = ["drop", "lose", "cut", "double", "delayRequest", "delayReply"];
const PERCENT = 100;

export interface FaultProxyOptions {
  /** URL of the stack. */
  target: string;
  seed: number;
  /** How many of 100 requests have a fault. */
  percent?: number;
  maxDelayMs?: number;
  faults?: readonly Fault[];
}

interface Request {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: Buffer;
}

export class FaultProxy {
  /** Whether faults are made. */
  isFaulty = true;
  /** Whether no request gets through, as without a network. */
  isOffline = false;
  readonly counts: Record<Fault | "none", number> = { drop: 0, lose: 0, cut: 0, double: 0, delayRequest: 0, delayReply: 0, none: 0 };
  readonly #random: SeededRandom;
  readonly #server: Server;

  constructor(private readonly options: FaultProxyOptions) {
    this.#random = new SeededRandom(options.seed);
    this.#server = createServer((incoming, reply) => {
      this.#handle(incoming, reply).catch(() => incoming.socket.destroy());
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  /** Ends all open connections, such as streams. */
  cutConnections(): void {
    this.#server.closeAllConnections();
  }

  #nextFault(): Fault | "none" {
    const { percent = 30, faults = FAULTS } = this.options;
    if (!this.isFaulty || this.#random.below(PERCENT) >= percent) return "none";
    return faults[this.#random.below(faults.length)] ?? "none";
  }

  async #wait(): Promise<void> {
    const delayMs = this.#random.below(this.options.maxDelayMs ?? 200);
    await new Promise((resolve) => setTimeout(resolve, delayMs));
  }

  async #handle(incoming: IncomingMessage, reply: ServerResponse): Promise<void> {
    const fault = this.#nextFault();
    this.counts[fault] += 1;
    const request: Request = {
      method: incoming.method ?? "GET",
      path: incoming.url ?? "/",
      headers: incoming.headers,
      body: await bodyOf(incoming),
    };
    if (this.isOffline || fault === "drop") return void incoming.socket.destroy();
    if (fault === "delayRequest") await this.#wait();
    const answer = await this.#forward(request);
    if (fault === "double") void this.#repeat(request);
    if (fault === "delayReply") await this.#wait();
    if (fault === "lose" || this.isOffline) {
      answer.destroy();
      return void incoming.socket.destroy();
    }
    if (fault === "cut") return this.#cut(answer, incoming, reply);
    reply.writeHead(answer.statusCode ?? 502, answer.headers);
    reply.flushHeaders();
    answer.on("error", () => reply.destroy());
    reply.on("close", () => answer.destroy());
    answer.pipe(reply);
  }

  /** Sends the first half of the reply, and then ends the connection. */
  async #cut(answer: IncomingMessage, incoming: IncomingMessage, reply: ServerResponse): Promise<void> {
    const isStream = answer.headers["content-type"]?.startsWith("text/event-stream") === true;
    const body = isStream ? Buffer.alloc(0) : await bodyOf(answer);
    reply.writeHead(answer.statusCode ?? 502, answer.headers);
    reply.write(body.subarray(0, Math.floor(body.length / 2)), () => {
      answer.destroy();
      incoming.socket.destroy();
    });
  }

  /** Sends a request again, later and perhaps after others, and drops the reply. */
  async #repeat(request: Request): Promise<void> {
    await this.#wait();
    try {
      (await this.#forward(request)).destroy();
    } catch {
      // The stack may have been stopped.
    }
  }

  #forward({ method, path, headers, body }: Request): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const { host } = new URL(this.options.target);
      const forwarded = httpRequest(new URL(path, this.options.target), { method, headers: { ...headers, host } }, resolve);
      forwarded.on("error", reject);
      forwarded.end(body);
    });
  }
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
