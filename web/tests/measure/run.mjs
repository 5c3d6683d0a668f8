// Measures the page in Chromium against a local stack, and prints a table. See docs/measurements.md.
//
//   CELLAR_SYNTH=../target/release/synth node tests/measure/run.mjs [--quick] [--only PART] [--json FILE]
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const outfile = fileURLToPath(new URL("../../build/measure/main.mjs", import.meta.url));
await build({
  entryPoints: [fileURLToPath(new URL("main.ts", import.meta.url))],
  outfile,
  bundle: true,
  format: "esm",
  platform: "node",
  packages: "external",
  // The modules find the programs and the page by their own place.
  define: { "import.meta.url": JSON.stringify(new URL("main.ts", import.meta.url).href) },
});
const { main } = await import(outfile);
process.exitCode = await main(process.argv.slice(2));
