/** Serves the page and the examples under the policy of the product, and passes `/v1` on to a stack. */

import { readFile } from "node:fs/promises";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const WEB = fileURLToPath(new URL("../../", import.meta.url));

/** As `runtime/src/api/page_policy.rs` writes it. A local stack keeps its objects at another port of this machine. */
export const POLICY =
  "default-src 'self'; connect-src 'self' http://127.0.0.1:*; img-src 'self' data:; style-src 'self'; script-src 'self'; " +
  "worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".webmanifest": "application/manifest+json",
};

export interface Site {
  url: string;
  close(): Promise<void>;
}

export interface SiteOptions {
  /** A file is served from the first folder that has it. */
  folders?: readonly string[];
  /** The content security policy, or null for a page that has none, as some that embed the element. */
  policy?: string | null;
  /** Whether the stack serves the page, instead of the folders. */
  isPageOfStack?: boolean;
}

const PAGE = /^\/(?:$|index\.html$|sw\.js$|assets\/)/;

/** `api` is the URL of the stack, or of a proxy before it. */
export async function startSite(api: string, options: SiteOptions = {}): Promise<Site> {
  const { folders = [join(WEB, "dist"), WEB], policy = POLICY, isPageOfStack = false } = options;
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://site").pathname;
    if (path.startsWith("/v1/") || (isPageOfStack && PAGE.test(path))) passOn(api, request, response);
    else void serveFile(path, folders, policy, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the web server has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serveFile(path: string, folders: readonly string[], policy: string | null, response: ServerResponse): Promise<void> {
  const name = normalize(path === "/" ? "/index.html" : decodeURIComponent(path));
  for (const folder of folders) {
    const body = await readFile(join(folder, name)).catch(() => null);
    if (body === null) continue;
    response.writeHead(200, {
      "content-type": TYPES[extname(name)] ?? "application/octet-stream",
      ...(policy === null ? {} : { "content-security-policy": policy }),
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "cache-control": "no-cache",
    });
    response.end(body);
    return;
  }
  // A browser asks for it by itself.
  response.writeHead(path === "/favicon.ico" ? 204 : 404).end();
}

function passOn(api: string, request: IncomingMessage, response: ServerResponse): void {
  const { host: _host, ...headers } = request.headers;
  const onward = httpRequest(new URL(request.url ?? "/", api), { method: request.method, headers }, (reply) => {
    response.writeHead(reply.statusCode ?? 502, reply.headers);
    reply.pipe(response);
    reply.on("error", () => response.destroy());
  });
  // A browser has to see a lost connection as one.
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  request.pipe(onward);
}
