// Makes docs/images/page-{wide,narrow,dark}.png from dist/ and a local stack with the airports.
//
//   npm run build && CELLAR_SYNTH=../target/debug/synth node scripts/screenshots.mjs
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { startDevServer } from "../tests/dev-server.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const IMAGES = join(ROOT, "docs/images");
const SYNTH = resolve(process.env.CELLAR_SYNTH ?? join(ROOT, "target/debug/synth"));
const CELLAR = process.env.CELLAR_CLI ?? join(SYNTH, "../cellar");
const MAX_BYTES = 200_000;

const PICTURES = [
  { name: "wide", options: { viewport: { width: 1280, height: 800 }, colorScheme: "light" }, cell: "F2:G12", panel: null },
  { name: "narrow", options: { viewport: { width: 390, height: 844 }, colorScheme: "light", isMobile: true, hasTouch: true }, cell: "B2", panel: null },
  { name: "dark", options: { viewport: { width: 1280, height: 800 }, colorScheme: "dark" }, cell: "B2:C4", panel: "History" },
];

const folder = mkdtempSync(join(tmpdir(), "cellar-screenshots-"));
const run = (program, ...parameters) => execFileSync(program, parameters, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], env: { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder } });

run(SYNTH, "deploy", "--local", "--detach", "--port", "0", "--no-smoke");
const { url, token } = JSON.parse(readFileSync(join(folder, ".cellar/profile.json"), "utf8"));
const server = await startDevServer(url);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  const spreadsheet = prepare();
  mkdirSync(IMAGES, { recursive: true });
  for (const picture of PICTURES) await take(spreadsheet, picture);
} finally {
  await browser.close();
  await server.close();
  run(SYNTH, "stop");
  rmSync(folder, { recursive: true, force: true });
}

/** Imports the airports, and edits some cells as several people. Returns the id. */
function prepare() {
  run(CELLAR, "import", join(ROOT, "tests/data/airports.csv"));
  const [{ id }] = JSON.parse(run(CELLAR, "list", "--json")).spreadsheets;
  run(CELLAR, "share", "alice", "--role", "editor", "-s", id);
  const alice = JSON.parse(run(SYNTH, "token", "create", "--local", "--json", "--subject", "alice")).token;
  run(CELLAR, "set", "-s", id, "H1", "northern", "H2", "=IF(F2>39.86,\"yes\",\"no\")", "I1", "by state", "I2", "=COUNTIF(D:D,\"TX\")");
  run(CELLAR, "--url", url, "--token", alice, "set", "-s", id, "B2", "Thigpen Field", "C4", "Fowler");
  return id;
}

async function take(spreadsheet, { name, options, cell, panel }) {
  const context = await browser.newContext({ ...options, reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.goto(`${server.url}/#token=${token}`);
  await page.goto(`${server.url}/#/s/${spreadsheet}?cell=${cell}`);
  await page.locator("cellar-grid .cell:visible", { hasText: "Thigpen Field" }).waitFor();
  await page.getByText("Saved", { exact: true }).waitFor();
  if (panel !== null) {
    await page.getByRole("button", { name: panel }).click();
    await page.locator("aside.panel").getByText("alice").first().waitFor();
  }
  await page.waitForTimeout(500);
  const path = join(IMAGES, `page-${name}.png`);
  await page.screenshot({ path, animations: "disabled", caret: "hide" });
  await context.close();
  const { size } = statSync(path);
  console.log(`docs/images/page-${name}.png: ${size} bytes, at most ${MAX_BYTES}`);
  if (size > MAX_BYTES) process.exitCode = 1;
}
