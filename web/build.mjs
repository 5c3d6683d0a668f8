// Builds the page into dist/ and the element into build/. With --check-sizes, fails if one is larger than its budget.
// The same sources give the same bytes on every machine: no time and no path of the machine is part of a file.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { build, transform } from "esbuild";

const ROOT = fileURLToPath(new URL(".", import.meta.url));
const KB = 1024;
/** Used by people who sign in with an issuer. */
const LOGIN = ["src/app/login/callback-screen.tsx", "src/app/login/oidc.ts", "src/app/login/renew.ts"];
/** Used by people who scroll through a large sheet. */
const CHUNKS = ["src/data/chunk-worker.ts"];
const PAGE_START = ["src/app/app.tsx"];
/** Loaded together, right after the first cells. */
const LATER = ["src/data/later-parts.ts", "src/grid/later-parts.ts"];
const ELEMENT_START = ["src/grid/index.ts", "src/data/index.ts"];
/**
 * Puts files that are loaded together into one chunk, which compresses better than a chunk for each
 * combination of uses: all that is needed at the start, all panels, and what the grid loads later.
 * For that, each file that is loaded when it is needed imports the others of its group.
 */
function fewChunks(start, lazy) {
  const isResolving = "few-chunks";
  const sourceOf = (path) => readFile(path, "utf8");
  return {
    name: "few-chunks",
    async setup(bundler) {
      const panels = await sourceOf(`${ROOT}src/app/panels/index.ts`);
      const panelFiles = [...panels.matchAll(/import\("(\.\/[\w-]+)"\)/g)].map(([, name]) => name);
      const groupOf = (path) => (path.includes("/app/panels/") ? panelFiles : LATER.some((file) => path.endsWith(file)) ? LATER.map((file) => `start:${file}`) : []);
      bundler.onResolve({ filter: /^\./ }, async ({ path, kind, resolveDir, pluginData }) => {
        if (pluginData === isResolving) return undefined;
        const resolved = await bundler.resolve(path, { kind, resolveDir, pluginData: isResolving });
        return lazy.has(resolved.path) ? { ...resolved, sideEffects: true } : resolved;
      });
      bundler.onResolve({ filter: /^start:/ }, ({ path }) => ({ path: ROOT + path.slice("start:".length), sideEffects: true }));
      bundler.onLoad({ filter: /\.tsx?$/ }, async ({ path }) => {
        if (/\/grid\/[\w-]*style\.ts$/.test(path)) return { contents: await withSmallStyle(await sourceOf(path)), loader: "ts" };
        if (!lazy.has(path)) return undefined;
        const others = [...start.map((file) => `start:${file}`), ...groupOf(path)];
        const imports = others.map((other) => `import "${other}";\n`).join("");
        return { contents: imports + (await sourceOf(path)), loader: path.endsWith("x") ? "tsx" : "ts" };
      });
    },
  };
}

/**
 * Returns the files that are loaded when they are needed. They are found before the page is built,
 * because the order in which a build loads files differs from run to run.
 */
async function lazyFiles(options) {
  const { metafile } = await build({ ...options, metafile: true, splitting: true, write: false });
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  const lazy = imports.filter(({ kind, external }) => kind === "dynamic-import" && !external);
  return new Set(lazy.map(({ path }) => ROOT + path).filter((path) => !path.includes("/node_modules/")));
}

/** Minifies the style sheet that a script exports. */
async function withSmallStyle(script) {
  const [, before, style] = /^(.*= `)(.*)`;\s*$/s.exec(script);
  const { code } = await transform(style, { loader: "css", minify: true });
  return `${before}${code.trim().replaceAll("\\", "\\\\")}\`;`;
}

const COMMON = {
  absWorkingDir: ROOT,
  bundle: true,
  charset: "utf8",
  format: "esm",
  legalComments: "none",
  logLevel: "warning",
  minify: true,
  target: "es2022",
};
const PAGE = { ...COMMON, assetNames: "[name]-[hash]", chunkNames: "[name]-[hash]", entryNames: "[name]-[hash]", jsx: "automatic", jsxImportSource: "preact", outdir: "dist/assets" };

function compressedSize(contents) {
  return brotliCompressSync(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length;
}

function checkSize(what, bytes, budget) {
  console.log(`${what}: ${(bytes / KB).toFixed(1)} KB with brotli, at most ${budget / KB} KB`);
  if (bytes <= budget) return;
  console.error(`${what} is larger than its budget; load a part of it when it is first needed`);
  if (process.argv.includes("--check-sizes")) process.exitCode = 1;
}

function hashOf(...contents) {
  const hash = createHash("sha256");
  for (const part of contents) hash.update(part);
  return hash.digest("hex").slice(0, 8);
}

/** Returns the files of the entry and of all files that it imports at once. */
function firstFiles(outputs, path, found = new Set()) {
  if (found.has(path)) return found;
  found.add(path);
  const imports = outputs[path].imports.filter(({ kind, external }) => kind === "import-statement" && !external);
  for (const { path: imported } of imports) firstFiles(outputs, imported, found);
  return found;
}

/** Returns the files that are loaded for some entries only. */
function filesOnlyOf(outputs, sources) {
  const entries = Object.keys(outputs).filter((path) => outputs[path].entryPoint !== undefined);
  const own = entries.filter((path) => sources.includes(outputs[path].entryPoint));
  const others = new Set(entries.filter((path) => !own.includes(path)).flatMap((path) => [...firstFiles(outputs, path)]));
  return new Set(own.flatMap((path) => [...firstFiles(outputs, path)]).filter((path) => !others.has(path)));
}

function replaceOnce(text, from, to) {
  if (text.split(from).length !== 2) throw new Error(`index.html must contain ${from} once`);
  return text.replace(from, () => to);
}

/** The worker that reads chunks is loaded when somebody scrolls through a large sheet. */
async function buildChunkWorker() {
  const { outputFiles } = await build({ ...PAGE, entryPoints: { "chunk-worker": "src/data/chunks/window-worker.ts" }, write: false });
  const [{ path, contents }] = outputFiles;
  return { path: path.slice(ROOT.length), contents };
}

async function buildAssets() {
  const worker = await buildChunkWorker();
  const define = { CHUNK_WORKER: JSON.stringify(worker.path.slice("dist/assets/".length)) };
  const page = { ...PAGE, define, entryPoints: { main: "src/app/main.tsx" } };
  const plugins = [fewChunks(PAGE_START, await lazyFiles(page))];
  const scripts = await build({ ...page, metafile: true, plugins, splitting: true, write: false });
  const styles = await build({ ...PAGE, entryPoints: { page: "src/app/page.css" }, write: false });
  const files = new Map([[worker.path, worker.contents]]);
  for (const { path, contents } of [...scripts.outputFiles, ...styles.outputFiles]) files.set(path.slice(ROOT.length), contents);
  const icon = await readFile(new URL("src/app/icon.svg", import.meta.url));
  files.set(`dist/assets/icon-${hashOf(icon)}.svg`, icon);
  return { files, outputs: scripts.metafile.outputs, worker: worker.path };
}

function assetNamed(files, start, end) {
  const found = [...files.keys()].filter((path) => path.startsWith(`dist/assets/${start}-`) && path.endsWith(end));
  if (found.length !== 1) throw new Error(`${found.length} files are named ${start}-…${end}`);
  return found[0];
}

/** Links the hashed files, and preloads what the entry imports, so that no request waits for another one. */
async function indexHtml(files, first) {
  const relative = (path) => path.slice("dist/".length);
  const main = assetNamed(files, "main", ".js");
  const imported = [...first].filter((path) => path !== main).sort();
  const preloads = imported.map((path) => `<link rel="modulepreload" href="${relative(path)}">\n    `).join("");
  let html = await readFile(new URL("src/app/index.html", import.meta.url), "utf8");
  html = replaceOnce(html, "assets/icon.svg", relative(assetNamed(files, "icon", ".svg")));
  html = replaceOnce(html, "assets/page.css", relative(assetNamed(files, "page", ".css")));
  html = replaceOnce(html, `<script type="module" src="assets/main.js">`, `${preloads}<script type="module" src="${relative(main)}">`);
  return Buffer.from(html);
}

async function serviceWorker(names, html) {
  const paths = names.sort();
  const define = {
    BUILD: JSON.stringify(hashOf(html, ...paths)),
    FILES: JSON.stringify(paths.map((path) => path.slice("dist/".length))),
  };
  const result = await build({ ...COMMON, define, entryPoints: ["src/app/sw.ts"], format: "iife", write: false });
  return result.outputFiles[0].contents;
}

async function buildPage() {
  const { files, outputs, worker } = await buildAssets();
  const first = firstFiles(outputs, assetNamed(files, "main", ".js"));
  const login = filesOnlyOf(outputs, LOGIN);
  const html = await indexHtml(files, first);
  const sizeOf = (paths) => paths.reduce((sum, path) => sum + compressedSize(files.get(path)), 0);
  const style = assetNamed(files, "page", ".css");
  checkSize("first cells", compressedSize(html) + sizeOf([...first, style]), 60 * KB);
  const chunks = new Set([...filesOnlyOf(outputs, CHUNKS), worker]);
  const withoutLogin = [...files.keys()].filter((path) => !login.has(path) && !chunks.has(path));
  checkSize("whole page without the sign-in of issuers and the reader of chunks", compressedSize(html) + sizeOf(withoutLogin), 128 * KB);
  checkSize("reader of chunks", sizeOf([...chunks]), 20 * KB);
  files.set("dist/sw.js", await serviceWorker([...files.keys()].filter((path) => !chunks.has(path)), html));
  files.set("dist/index.html", html);
  await writeAll("dist", files);
}

async function writeAll(folder, files) {
  await rm(new URL(folder, import.meta.url), { recursive: true, force: true });
  for (const [path, contents] of files) {
    const url = new URL(path, import.meta.url);
    await mkdir(new URL(".", url), { recursive: true });
    await writeFile(url, contents);
  }
}

/** The element and the data layer, as another interface would bundle them, without the parts that are loaded later. */
async function buildElement() {
  const contents = `export * from "./src/grid/index"; export * from "./src/data/index";`;
  const options = { ...COMMON, metafile: true, outdir: "build", splitting: true };
  const stdin = { contents, resolveDir: ROOT, loader: "ts" };
  // Otherwise an import that is for the side effects only is left out.
  const lazy = await lazyFiles({ ...options, stdin });
  const whole = { ...options, ignoreAnnotations: true, plugins: [fewChunks(ELEMENT_START, lazy)] };
  const { metafile, outputFiles } = await build({ ...whole, stdin, write: false });
  const first = [...firstFiles(metafile.outputs, "build/stdin.js")].map((path) => ROOT + path);
  const sizeOf = (files) => files.reduce((sum, file) => sum + compressedSize(file.contents), 0);
  checkSize("element and data layer", sizeOf(outputFiles.filter(({ path }) => first.includes(path))), 40 * KB);
  const later = sizeOf(outputFiles.filter(({ path }) => !first.includes(path)));
  console.log(`loaded later by the element and data layer: ${(later / KB).toFixed(1)} KB with brotli`);
  await build({ ...options, entryPoints: { "cellar-grid": "src/grid/index.ts" } });
  const examples = ["examples/fake.ts", "examples/formulas.ts"].filter((path) => existsSync(new URL(path, import.meta.url)));
  await build({ ...options, entryPoints: examples });
}

await buildPage();
await buildElement();
