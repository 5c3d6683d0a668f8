import { createServer, type Server } from "node:http";
import { readFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import type { FakeSource } from "../../examples/fake-source";
import type { CellarGrid } from "../../src/grid/index";

export const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
/** Browsers differ between machines; a machine without one skips these tests. */
export const hasBrowser = existsSync(CHROMIUM);
export const LAST_ROW = String(2 ** 30);

const TYPES: Record<string, string> = { html: "text/html", js: "text/javascript", css: "text/css" };
// No inline style or script: the element has to work under the policy of the page that Cellar serves.
const POLICY = "default-src 'self'; frame-ancestors 'none'";

export interface GridBrowser {
  browser: Browser;
  address: string;
  open(options?: BrowserContextOptions): Promise<Page>;
  close(): Promise<void>;
}

export async function startGridBrowser(): Promise<GridBrowser> {
  const [server, address] = await startServer();
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"], ignoreDefaultArgs: ["--hide-scrollbars"] });
  return {
    browser,
    address,
    async open(options = {}) {
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
      page.on("pageerror", (error) => { throw error; });
      await page.goto(address);
      await page.locator(".cell", { hasText: "Column 1" }).first().waitFor();
      return page;
    },
    async close() {
      await browser.close();
      server.close();
    },
  };
}

async function startServer(): Promise<[Server, string]> {
  const root = new URL("../../", import.meta.url);
  const server = createServer((request, response) => {
    const path = request.url!.slice(1);
    readFile(new URL(path, root)).then(
      (body) => response.writeHead(200, { "content-type": TYPES[path.split(".").pop()!] ?? "text/plain", "content-security-policy": POLICY }).end(body),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const bound = server.address();
  return [server, `http://127.0.0.1:${typeof bound === "object" && bound ? bound.port : 0}/examples/fake.html`];
}

/** Waits until the timers of the page that end before have ended: a busy machine makes all of them late. */
export const pause = (page: Page, waitMs: number) => page.evaluate((waitMs) => new Promise<void>((resolve) => setTimeout(resolve, waitMs)), waitMs);
export const row = (page: Page, number: string) => page.locator(".row:visible .row-header", { hasText: new RegExp(`^${number}$`) });
export const topRow = (page: Page) =>
  page.locator(".row:not(.frozen):visible .row-header").evaluateAll((all) => Math.min(...all.map((one) => Number(one.textContent))));
export const goTo = async (page: Page, text: string) => {
  await page.locator(".name-box").fill(text);
  await page.locator(".name-box").press("Enter");
};
export const formula = (page: Page) => page.locator(".formula").inputValue();
export const name = (page: Page) => page.locator(".name-box").inputValue();
export const notice = (page: Page, text: string | RegExp) => page.locator(".notice", { hasText: text });
/** The input of a cell as the source has it, or its text. */
export const cell = (page: Page, row: number, column: number) =>
  withGrid(page, ({ source }, [row, column]) => {
    const cell = source.cellAt(row!, column!);
    return cell?.formula === undefined ? (cell?.text ?? "") : `=${cell.formula}`;
  }, [row, column]);
export const focused = (page: Page) => page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.className ?? "none");

/** Runs a function in the page with the element and its source. */
export function withGrid<T, A>(page: Page, run: (grid: Omit<CellarGrid, "source"> & { source: FakeSource }, argument: A) => T, argument: A): Promise<T> {
  // The function is sent as text: it must use nothing else.
  return page.evaluate(`(${run.toString()})(document.querySelector("cellar-grid"), ${JSON.stringify(argument ?? null)})`) as Promise<T>;
}
