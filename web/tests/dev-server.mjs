// Serves dist/ and forwards /v1 to a stack, with the headers that the stack sends with the page.
//
//   node tests/dev-server.mjs http://127.0.0.1:8480 [PORT]
//
// The page at http://127.0.0.1:PORT/#token=… is signed in. Build the page first: npm run build.
import { readFile } from "node:fs/promises";
import { createServer, request as sendRequest } from "node:http";
import { pathToFileURL } from "node:url";

const DIST = new URL("../dist/", import.meta.url);
const TYPES = { html: "text/html; charset=utf-8", js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8", svg: "image/svg+xml", json: "application/json" };
const HASHED = /^assets\/[\w.-]+$/;

/** Local stacks keep their objects at another port of this machine. */
function pageHeaders(path, connectSources) {
  const policy = [
    "default-src 'self'",
    `connect-src ${["'self'", ...connectSources].join(" ")}`,
    "img-src 'self' data:",
    "style-src 'self'",
    "script-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "object-src 'none'",
  ].join("; ");
  return {
    "content-security-policy": policy,
    "content-type": TYPES[path.split(".").pop()] ?? "application/octet-stream",
    "cache-control": path.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache",
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  };
}

async function serveFile(path, response, { connectSources, readDist }) {
  const name = path === "/" ? "index.html" : path.slice(1);
  if (name !== "index.html" && name !== "sw.js" && !HASHED.test(name)) return response.writeHead(404).end();
  try {
    const body = await readDist(name);
    response.writeHead(200, pageHeaders(name, connectSources)).end(body);
  } catch {
    response.writeHead(404).end();
  }
}

function forward(stack, request, response) {
  const target = new URL(request.url, stack);
  const headers = { ...request.headers, host: target.host };
  const forwarded = sendRequest(target, { method: request.method, headers }, (reply) => {
    response.writeHead(reply.statusCode ?? 502, reply.headers);
    reply.pipe(response);
  });
  forwarded.on("error", () => response.headersSent ? response.destroy() : response.writeHead(502).end());
  response.on("close", () => forwarded.destroy());
  request.pipe(forwarded);
}

/** Starts a server on this machine. Port 0 chooses a free one. `readDist` may return other files than those of dist/. */
export async function startDevServer(stack, port = 0, options = {}) {
  const settings = { connectSources: ["http://127.0.0.1:*"], readDist: (name) => readFile(new URL(name, DIST)), ...options };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    if (pathname.startsWith("/v1/")) forward(stack, request, response);
    else void serveFile(pathname, response, settings);
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [, , stack, port = "8490"] = process.argv;
  if (stack === undefined) {
    console.error("usage: node tests/dev-server.mjs STACK_URL [PORT]");
    process.exit(1);
  }
  const { url } = await startDevServer(stack, Number(port));
  console.log(`${url} forwards /v1 to ${stack}`);
}
