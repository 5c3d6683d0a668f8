import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeInBrowser } from "./harness";
import { startSite } from "./site";

const run = promisify(execFile);
const WEB = fileURLToPath(new URL("../../", import.meta.url));

const CONSUMER = `
import "@cellar/grid";
import type { CellarGrid } from "@cellar/grid";
import { openSheet, type Cell, type SheetSource } from "@cellar/grid/data";

export async function show(grid: CellarGrid, token: string): Promise<Cell | undefined> {
  const sheet: SheetSource = await openSheet({ url: "https://example.com", spreadsheet: "budget", getToken: () => token });
  grid.source = sheet;
  document.querySelector("cellar-grid")!.goTo("B2");
  return sheet.cellAt(0, 0);
}
// @ts-expect-error: the row is a number.
export const wrong = (sheet: SheetSource) => sheet.cellAt("1", 0);
`;

const PROGRAM = `
import { openSheet } from "@cellar/grid/data";
const [url, spreadsheet, token] = process.argv.slice(2);
const sheet = await openSheet({ url, spreadsheet, getToken: () => token });
sheet.setCells([{ row: 0, column: 0, input: "12.80" }, { row: 1, column: 0, input: "=A1*2" }]);
const isShown = () => sheet.status.pending === 0 && sheet.cellAt(1, 0)?.text === "25.6";
sheet.subscribe(() => {
  sheet.request({ firstRow: 0, rowCount: 10, firstColumn: 0, columnCount: 5 });
  if (!isShown()) return;
  console.log(JSON.stringify([sheet.cellAt(0, 0).text, sheet.cellAt(1, 0).text]));
  sheet.close();
});
setTimeout(() => { console.error("no cells after 20 s", sheet.status); process.exit(1); }, 20_000).unref();
`;

describeInBrowser("the packed package", (harness) => {
  let folder: string;
  let installed: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "cellar-package-"));
    const tarballs = (await readdir(join(WEB, "build"))).filter((name) => name.endsWith(".tgz"));
    expect(tarballs, "`npm run package` makes one file").toHaveLength(1);
    await writeFile(join(folder, "package.json"), '{"name": "consumer", "private": true, "type": "module"}');
    await run("npm", ["install", "--offline", "--no-audit", "--no-fund", join(WEB, "build", tarballs[0]!)], { cwd: folder });
    installed = join(folder, "node_modules/@cellar/grid");
  }, 60_000);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("needs no other package and contains licences", async () => {
    expect(await readdir(join(folder, "node_modules"))).toEqual([".package-lock.json", "@cellar"]);
    const files = await readdir(installed);
    expect(files).toEqual(expect.arrayContaining(["LICENSE-APACHE", "LICENSE-MIT", "README.md"]));
    const lib = await readdir(join(installed, "lib"));
    const maps = await Promise.all(lib.filter((name) => name.endsWith(".map")).map((name) => readFile(join(installed, "lib", name), "utf8")));
    const contained = maps.flatMap((map) => [...map.matchAll(/node_modules\/((?:@[^/"]+\/)?[^/"]+)\//g)].map(([, name]) => name!));
    const licences = contained.length === 0 ? "" : await readFile(join(installed, "lib/THIRD-PARTY-LICENSES"), "utf8");
    for (const name of contained) expect(licences).toContain(`${name}\n\n`);
  });

  test.each([
    ["nodenext", "nodenext"],
    ["bundler", "esnext"],
  ])("type-checks in a consumer with module resolution %s", async (moduleResolution, module) => {
    await writeFile(join(folder, "consumer.ts"), CONSUMER);
    const options = { strict: true, noEmit: true, target: "es2022", lib: ["es2023", "dom"], types: [], skipLibCheck: false, exactOptionalPropertyTypes: true };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: { ...options, module, moduleResolution }, files: ["consumer.ts"] }));
    const checked = await run(join(WEB, "node_modules/.bin/tsc"), ["-p", folder]).catch((error: { stdout: string }) => error);
    expect(checked.stdout).toBe("");
  });

  test("runs the data layer in Node", async () => {
    const spreadsheet = await harness.stack.create("package in Node");
    await writeFile(join(folder, "program.mjs"), PROGRAM);
    const { stdout } = await run("node", ["program.mjs", harness.stack.url, spreadsheet, harness.stack.token], { cwd: folder });
    expect(JSON.parse(stdout)).toEqual(["12.80", "25.6"]);
    expect(await harness.stack.cellar("get", "-s", spreadsheet, "--json")).toContain('"formula":"=A1*2"');
  });

  test("runs the element in Chromium", async () => {
    const spreadsheet = await harness.stack.create("package in Chromium");
    await harness.stack.cellar("set", "-s", spreadsheet, "A1", "packed");
    for (const name of ["plain.html", "plain.css", "plain.js"]) await cp(join(WEB, "examples", name), join(folder, "examples", name));
    await symlink(join(installed, "lib"), join(folder, "lib"));
    const site = await startSite(harness.stack.url, { folders: [folder] });
    harness.guard.addOrigin(site.url);
    const page = await (await harness.newContext()).newPage();
    await page.goto(`${site.url}/examples/plain.html#${new URLSearchParams({ spreadsheet, token: harness.stack.token })}`);
    await page.locator(".cell", { hasText: "packed" }).waitFor();
    await page.close();
    await site.close();
  });
});
