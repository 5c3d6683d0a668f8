// Builds the examples into build/ and reports the compressed sizes.
import { brotliCompressSync } from "node:zlib";
import { build } from "esbuild";

const common = { bundle: true, format: "esm", target: "es2022", minify: true, charset: "utf8" };

for (const [name, entry, budgetBytes] of [
  ["data layer", "src/data/index.ts", 20 * 1024],
  ["cellar-grid", "src/grid/index.ts", 25 * 1024],
]) {
  // What is imported when it is needed is a file of its own.
  const result = await build({ ...common, entryPoints: [entry], write: false, splitting: true, outdir: "build" });
  const compressed = brotliCompressSync(result.outputFiles.find(({ path }) => path.endsWith("/index.js")).contents).length;
  console.log(`${name}: ${compressed} bytes with brotli, at most ${budgetBytes}`);
  if (compressed > budgetBytes) process.exitCode = 1;
}
await build({ ...common, entryPoints: ["src/grid/index.ts"], outfile: "build/cellar-grid.js" });
await build({ ...common, entryPoints: ["examples/fake.ts"], outfile: "build/fake.js" });
