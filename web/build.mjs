// Builds the examples into build/ and reports the compressed sizes.
import { brotliCompressSync } from "node:zlib";
import { build } from "esbuild";

const common = { bundle: true, format: "esm", target: "es2022", minify: true, charset: "utf8" };

for (const [name, entry, budgetBytes] of [
  ["data layer", "src/data/index.ts", 20 * 1024],
  ["cellar-grid", "src/grid/index.ts", 32 * 1024],
]) {
  // What is loaded when it is first needed, such as the list of functions, is in files of its own.
  const result = await build({ ...common, entryPoints: { entry }, outdir: "build", splitting: true, write: false });
  const first = result.outputFiles.filter(({ path }) => !/formula-suggestions-[^/]*$/.test(path));
  const compressed = first.reduce((sum, { contents }) => sum + brotliCompressSync(contents).length, 0);
  console.log(`${name}: ${compressed} bytes with brotli, at most ${budgetBytes}`);
  if (compressed > budgetBytes) process.exitCode = 1;
}
await build({ ...common, entryPoints: ["src/grid/index.ts"], outfile: "build/cellar-grid.js" });
await build({ ...common, entryPoints: ["examples/fake.ts", "examples/formulas.ts"], outdir: "build", splitting: true });
