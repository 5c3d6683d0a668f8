import { execFileSync } from "node:child_process";
import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer, request as httpRequest, type Server } from "node:http";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { importLargeSheet } from "../measure/sheets";
import { HAS_STACK, startStack, type Stack } from "../stack";
import { CHROMIUM, launchBrowser } from "./harness";
import { startSite, type Site } from "./site";
import { SheetPage } from "./sheet-page";

const WEB = fileURLToPath(new URL("../../", import.meta.url));
const ROWS = 60_000;
const SCREENS = 120;
const ROWS_PER_SCREEN = 150;

/** The bucket permits the page only if its origin is in the configuration, which is read when the stack starts. */
class World {
  stack!: Stack;
  browser!: Browser;
  site!: Site;
  front!: Server;
  url = "";
  spreadsheet = "";
  /** The unpacked package, with the example in plain HTML. */
  packed = "";

  async start(): Promise<void> {
    this.front = createServer((request, response) => {
      const { host: _host, ...headers } = request.headers;
      const onward = httpRequest(new URL(request.url ?? "/", this.site.url), { method: request.method, headers }, (reply) => {
        response.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(response);
      });
      onward.on("error", () => response.destroy());
      response.on("close", () => onward.destroy());
      request.pipe(onward);
    });
    await new Promise<void>((resolve) => this.front.listen(0, "127.0.0.1", resolve));
    const address = this.front.address();
    this.url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
    [this.stack, this.browser] = await Promise.all([
      startStack(`cors_origins: ["${this.url}"]\nsnapshots:\n  entries: 10\n  bytes: 16384\n`),
      launchBrowser(),
    ]);
    this.packed = await unpack();
    this.site = await startSite(this.stack.url, { folders: [this.packed, join(WEB, "dist"), WEB] });
    this.spreadsheet = await importLargeSheet(this.stack, ROWS);
    for (let edit = 0; edit < 12; edit += 1) await this.stack.cellar("set", "-s", this.spreadsheet, `B${1 + edit * 4_000}`, `edited ${edit}`);
    while ((await this.load()).root === undefined) await new Promise((resolve) => setTimeout(resolve, 200));
  }

  async load(): Promise<{ root?: string }> {
    const headers = { authorization: `Bearer ${this.stack.token}` };
    return (await fetch(`${this.stack.url}/v1/spreadsheets/${this.spreadsheet}`, { headers })).json() as Promise<{ root?: string }>;
  }

  async stop(): Promise<void> {
    await this.browser?.close();
    this.front?.closeAllConnections();
    this.front?.close();
    await this.site?.close();
    await this.stack?.stop();
    await rm(this.packed, { recursive: true, force: true });
  }

  /** Opens a page in a new profile and counts its requests. */
  async watch(fragment: string): Promise<{ page: Page; counts: Record<string, number> }> {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    const counts: Record<string, number> = {};
    const count = (kind: string) => (counts[kind] = (counts[kind] ?? 0) + 1);
    context.on("request", (request) => {
      const url = request.url();
      if (/\/cells\?/.test(url)) count("cells");
      else if (/\/v1\/spreadsheets\/[^/]+\/chunks$/.test(url)) count("chunks");
      else if (/\/v1\//.test(url)) count("other");
      else if (/bucket/.test(url)) count("bucket");
    });
    await page.goto(this.url + fragment);
    return { page, counts };
  }

  /** Opens the spreadsheet in the page. */
  async open(): Promise<{ page: Page; counts: Record<string, number> }> {
    const opened = await this.watch(`/#token=${this.stack.token}`);
    await opened.page.getByRole("heading", { name: "Spreadsheets" }).waitFor();
    await opened.page.goto(`${this.url}/#/s/${this.spreadsheet}`);
    await opened.page.locator("cellar-grid .cell:visible").first().waitFor();
    return opened;
  }

  /** Opens the spreadsheet in an example, which has no page around the element. */
  async openExample(name: string): Promise<{ page: Page; counts: Record<string, number> }> {
    const options = new URLSearchParams({ spreadsheet: this.spreadsheet, token: this.stack.token });
    const opened = await this.watch(`/examples/${name}#${options}`);
    await opened.page.locator("cellar-grid .cell:visible").first().waitFor();
    return opened;
  }
}

async function unpack(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "cellar-packed-"));
  const [tarball] = (await readdir(join(WEB, "build"))).filter((name) => name.endsWith(".tgz"));
  if (tarball === undefined) throw new Error("build/ has no package; run `npm run package`");
  execFileSync("tar", ["-xzf", join(WEB, "build", tarball), "-C", folder, "--strip-components=1"]);
  for (const name of ["plain.html", "plain.css", "plain.js"]) await cp(join(WEB, "examples", name), join(folder, "examples", name));
  return folder;
}

/** Scrolls down screen by screen, and waits for the cells of each. */
async function scrollDown(page: Page): Promise<void> {
  await page.locator("cellar-grid").evaluate(
    async (element, [screens, rows]) => {
      const source = (element as HTMLElementTagNameMap["cellar-grid"]).source!;
      for (let screen = 0; screen < screens!; screen += 1) {
        const firstRow = screen * rows!;
        source.request({ firstRow, rowCount: 40, firstColumn: 0, columnCount: 10 });
        while (!source.isLoaded(firstRow, 0) || !source.isLoaded(firstRow + 39, 9)) await new Promise((resolve) => setTimeout(resolve, 1));
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
    },
    [SCREENS, ROWS_PER_SCREEN],
  );
}

describe.skipIf(!HAS_STACK || !existsSync(CHROMIUM))("scrolling through a large sheet with a snapshot", { timeout: 180_000 }, () => {
  const world = new World();
  beforeAll(() => world.start(), 180_000);
  afterAll(() => world.stop(), 60_000);

  test("reads windows from chunks instead of the API, with the same cells", async () => {
    const { page, counts } = await world.open();
    await scrollDown(page);
    const sheet = new SheetPage(page);
    await sheet.goTo("B8001");
    await sheet.cell("edited 2").waitFor();
    await sheet.goTo("A5005");
    await expect.poll(() => sheet.contents("B5005")).toBe("station 5005");
    expect(counts["cells"]).toBeLessThan(SCREENS / 3);
    expect(counts["chunks"]).toBeLessThan(10);
    await page.context().close();
  });

  test.each([
    ["the packed element", "plain.html"],
    ["a bundle that names the worker", "framework/index.html"],
  ])("reads windows from chunks in %s", async (_, example) => {
    const { page, counts } = await world.openExample(example);
    await scrollDown(page);
    expect(page.workers().map((worker) => worker.url())).toEqual([`${world.url}/lib/chunk-worker.js`]);
    expect(counts["cells"]).toBeLessThan(SCREENS / 3);
    await page.locator("cellar-grid .name-box").fill("B5005");
    await page.keyboard.press("Enter");
    await page.locator("cellar-grid .cell", { hasText: /^station 5005$/ }).waitFor();
    await page.context().close();
  });

  test("asks the API for all windows if the bucket cannot be reached", async () => {
    const { page, counts } = await world.open();
    await page.context().route(/bucket/, (route) => route.abort());
    await scrollDown(page);
    await expect.poll(() => new SheetPage(page).contents("B5005")).toBe("station 5005");
    expect(counts["cells"]).toBeGreaterThan(SCREENS / 2);
    await page.context().close();
  });
});
