/**
 * A proxy before a stack that loses, repeats and delays requests. A seed determines which faults it makes, so that a
 * failing test can be repeated as far as the timing allows.
 */

import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { SeededRandom } from "./data/random";

export type Fault =
  | "none"
  /** The stack does not get the request. */
  | "loseRequest"
  /** The stack gets the request, the client no answer. */
  | "loseReply"
  /** The client gets the first half of the answer. */
  | "cut"
  /** The stack gets the request twice; the client gets the second answer. */
  | "double"
  /** The stack gets the request again later, perhaps after others. */
  | "repeatLater"
  /** The stack does not get the request, and the connection stays open. */
  | "hold";

export interface Plan {
  fault: Fault;
  requestDelayMs?: number;
  replyDelayMs?: number;
}

export type Planner = (method: string, path: string) => Plan;

const FAULTS: readonly Fault[] = ["none", "loseRequest", "loseReply", "cut", "double", "repeatLater", "hold"];
const RANDOM_FAULTS: readonly Fault[] = ["loseRequest", "loseReply", "cut", "double", "repeatLater"];
const PERCENT = 100;
const MAX_DELAY_MS = 300;

export const NO_FAULTS: Planner = () => ({ fault: "none" });
/** No request gets through, and no answer to an earlier one. */
export const OFFLINE: Planner = () => ({ fault: "loseRequest" });

/** Draws faults and delays at random, the same ones for the same seed. */
export function randomFaults(seed: number, percent = 30): Planner {
  const random = new SeededRandom(seed);
  return () => ({
    fault: random.below(PERCENT) < percent ? RANDOM_FAULTS[random.below(RANDOM_FAULTS.length)]! : "none",
    requestDelayMs: random.below(MAX_DELAY_MS),
    replyDelayMs: random.below(MAX_DELAY_MS),
  });
}

interface Request {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: Buffer;
}

export class FaultProxy {
  plan: Planner = NO_FAULTS;
  /** How often each fault happened, so that a test can prove that it met some. */
  readonly counts = Object.fromEntries(FAULTS.map((fault) => [fault, 0])) as Record<Fault, number>;
  url = "";
  readonly #server = createServer((incoming, reply) => {
    this.#handle(incoming, reply).catch(() => incoming.socket.destroy());
  });

  private constructor(private readonly stack: string) {}

  static async start(stack: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(stack);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    const address = proxy.#server.address();
    if (address === null || typeof address === "string") throw new Error("the proxy has no port");
    proxy.url = `http://127.0.0.1:${address.port}`;
    return proxy;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  /** Ends all open connections, such as streams. */
  cutConnections(): void {
    this.#server.closeAllConnections();
  }

  async #handle(incoming: IncomingMessage, reply: ServerResponse): Promise<void> {
    const { method = "GET", url: path = "/", headers } = incoming;
    const request: Request = { method, path, headers, body: await bodyOf(incoming) };
    // The page itself always arrives.
    const { fault, requestDelayMs = 0, replyDelayMs = 0 } = path.startsWith("/v1/") ? this.plan(method, path) : NO_FAULTS(method, path);
    this.counts[fault] += 1;
    if (fault === "loseRequest") return void incoming.socket.destroy();
    if (fault === "hold") return;
    await sleep(requestDelayMs);
    if (fault === "double") (await this.#forward(request)).resume();
    const answer = await this.#forward(request);
    if (fault === "repeatLater") void this.#repeat(request, requestDelayMs + replyDelayMs);
    await sleep(replyDelayMs);
    if (fault === "loseReply" || this.plan === OFFLINE) {
      answer.destroy();
      return void incoming.socket.destroy();
    }
    if (fault === "cut") return cut(answer, incoming, reply);
    reply.writeHead(answer.statusCode ?? 502, answer.headers);
    reply.flushHeaders();
    answer.on("error", () => reply.destroy());
    reply.on("close", () => answer.destroy());
    answer.pipe(reply);
  }

  async #repeat(request: Request, delayMs: number): Promise<void> {
    await sleep(delayMs);
    try {
      (await this.#forward(request)).destroy();
    } catch {
      // The stack may have been stopped.
    }
  }

  #forward({ method, path, headers: { host: _host, ...headers }, body }: Request): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const forwarded = httpRequest(new URL(path, this.stack), { method, headers }, resolve);
      forwarded.on("error", reject);
      forwarded.end(body);
    });
  }
}

/** Sends the first half of the reply, and then ends the connection. */
async function cut(answer: IncomingMessage, incoming: IncomingMessage, reply: ServerResponse): Promise<void> {
  const isStream = answer.headers["content-type"]?.startsWith("text/event-stream") === true;
  const body = isStream ? Buffer.alloc(0) : await bodyOf(answer);
  reply.writeHead(answer.statusCode ?? 502, answer.headers);
  reply.write(body.subarray(0, Math.floor(body.length / 2)), () => {
    answer.destroy();
    incoming.socket.destroy();
  });
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

function sleep(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}
