// Builds lib/ and packs it as build/cellar-grid-VERSION.tgz. With --lib, only builds lib/.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";
import { build } from "esbuild";

const WEB = fileURLToPath(new URL("..", import.meta.url));
const LIB = join(WEB, "lib");
const STAGE = join(WEB, "build/package");
const BUDGET_BYTES = { grid: 30 * 1024, data: 30 * 1024 };
const IMPORT = /(?:from|import)\s*\(?"(\.{1,2}\/[^"]+?)"/g;
const WORKER = "chunk-worker";
const ENTRIES = { grid: "src/grid/index.ts", data: "src/data/index.ts" };

await buildLib();
const isWithinBudget = reportSizes();
if (!process.argv.includes("--lib")) pack();
if (!isWithinBudget) process.exitCode = 1;

/** The modules contain their dependencies, so that a page without a bundler can load them. */
async function buildLib() {
  rmSync(LIB, { recursive: true, force: true });
  const options = {
    absWorkingDir: WEB,
    outdir: LIB,
    bundle: true,
    format: "esm",
    target: "es2022",
    minify: true,
    sourcemap: true,
    charset: "utf8",
    metafile: true,
  };
  const define = { CHUNK_WORKER: JSON.stringify(`./${WORKER}.js`) };
  const modules = await build({ ...options, define, entryPoints: ENTRIES, splitting: true, chunkNames: "shared-[hash]" });
  // A file of its own, which needs no other one: a bundler may copy it.
  const worker = await build({ ...options, entryPoints: { [WORKER]: "src/data/chunks/window-worker.ts" } });
  const licences = licencesOf([modules, worker].flatMap(({ metafile }) => Object.keys(metafile.inputs)));
  if (licences !== "") writeFileSync(join(LIB, "THIRD-PARTY-LICENSES"), licences);
  run("node_modules/.bin/tsc", ["-p", "scripts/package.tsconfig.json", "--outDir", join(LIB, "types")]);
  keepReachable(join(LIB, "types"));
}

/** Returns the licences of the packages that the modules contain. */
function licencesOf(inputs) {
  const names = inputs.flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  const texts = [...new Set(names)].sort().map((name) => {
    const folder = join(WEB, "node_modules", name);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`${name} has no licence file, so that the package cannot contain it`);
    return `${name}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  });
  return texts.join("\n----\n\n");
}

/** The declarations of modules that no exported type refers to would only be weight. */
function keepReachable(folder) {
  const reached = new Set();
  const visit = (file) => {
    if (reached.has(file)) return;
    reached.add(file);
    addExtensions(file);
    for (const [, name] of readFileSync(file, "utf8").matchAll(IMPORT)) visit(join(dirname(file), name.replace(/(\.js)?$/, ".d.ts")));
  };
  for (const entry of Object.keys(ENTRIES)) visit(join(folder, entry, "index.d.ts"));
  for (const file of filesOf(folder)) if (!reached.has(file)) rmSync(file);
}

/** TypeScript resolves imports of modules in Node only with their extensions. */
function addExtensions(file) {
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replaceAll(IMPORT, (found, name) => found.replace(name, `${name}.js`)));
}

function reportSizes() {
  let isWithin = true;
  for (const [name, budget] of Object.entries(BUDGET_BYTES)) {
    const bytes = compressedBytes(`${name}.js`, new Set());
    console.log(`${name}: ${bytes} bytes with brotli, at most ${budget}`);
    isWithin &&= bytes <= budget;
  }
  return isWithin;
}

/** Adds up a module and the modules that it imports. */
function compressedBytes(name, seen) {
  if (seen.has(name)) return 0;
  seen.add(name);
  const text = readFileSync(join(LIB, name), "utf8");
  const imported = [...text.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)].map((match) => match[1]);
  return imported.reduce((sum, other) => sum + compressedBytes(other, seen), brotliCompressSync(text).length);
}

function pack() {
  rmSync(STAGE, { recursive: true, force: true });
  mkdirSync(STAGE, { recursive: true });
  cpSync(LIB, join(STAGE, "lib"), { recursive: true });
  cpSync(join(WEB, "README.md"), join(STAGE, "README.md"));
  for (const licence of ["LICENSE-MIT", "LICENSE-APACHE"]) cpSync(join(WEB, "..", licence), join(STAGE, licence));
  writeFileSync(join(STAGE, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
  const output = execFileSync("npm", ["pack", "--json", "--pack-destination", join(WEB, "build")], { cwd: STAGE, encoding: "utf8" });
  const packed = Object.values(JSON.parse(output))[0];
  console.log(`build/${packed.filename}: ${packed.size} bytes, unpacked ${packed.unpackedSize} bytes in ${packed.entryCount} files`);
}

function manifest() {
  const { name, version, description, license, type, engines } = JSON.parse(readFileSync(join(WEB, "package.json"), "utf8"));
  const entry = (module) => ({ types: `./lib/types/${module}/index.d.ts`, default: `./lib/${module}.js` });
  return {
    name,
    version,
    description,
    license,
    type,
    engines,
    // The grid registers the element when it is imported.
    sideEffects: ["./lib/grid.js", `./lib/${WORKER}.js`],
    exports: { ".": entry("grid"), "./data": entry("data"), [`./${WORKER}.js`]: `./lib/${WORKER}.js`, "./package.json": "./package.json" },
    files: ["lib", "LICENSE-*"],
  };
}

function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function run(command, parameters) {
  try {
    execFileSync(join(WEB, command), parameters, { cwd: WEB, encoding: "utf8" });
  } catch (error) {
    console.error(error.stdout);
    process.exitCode = 1;
  }
}
