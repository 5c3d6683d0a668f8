/** A browser, a real stack and the built page, for tests of the page. */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
// @ts-expect-error The server is plain JavaScript, because it is also a command.
import { startDevServer } from "../dev-server.mjs";
import { HAS_STACK, startStack, type Stack } from "../stack";

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const DIST = fileURLToPath(new URL("../../dist/index.html", import.meta.url));
/** The browser reports each failed request. An import without access to the bucket uses the API instead. */
const EXPECTED_MESSAGE = /Failed to load resource|\/cellar-bucket\/uploads\/.*CORS policy/;

/** Tests of the page need Chromium, the programs, and `npm run build`. */
export const CAN_TEST_PAGE = HAS_STACK && existsSync(CHROMIUM) && existsSync(DIST);

export interface PageWorld {
  stack: Stack;
  /** URL of the page. */
  url: string;
  browser: Browser;
  /** Opens a tab that is signed in as the operator, unless the fragment says something else. */
  open(fragment?: string, options?: BrowserContextOptions): Promise<Page>;
  /** Errors that the page has thrown, and unexpected messages in its console. */
  faults: string[];
  /** URLs that the page has requested. */
  requested: string[];
  close(): Promise<void>;
}

export async function startPageWorld(): Promise<PageWorld> {
  const stack = await startStack();
  const server = (await startDevServer(stack.url)) as { url: string; close(): Promise<void> };
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  const [faults, requested]: string[][] = [[], []];
  const open = async (fragment = `#token=${stack.token}`, options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    context.on("request", (request) => requested!.push(request.url()));
    context.on("weberror", (error) => faults!.push(error.error().message));
    context.on("console", (message) => {
      if (message.type() === "error" && !EXPECTED_MESSAGE.test(message.text())) faults!.push(message.text());
    });
    const page = await context.newPage();
    await page.goto(`${server.url}/${fragment}`);
    return page;
  };
  const close = async () => {
    await browser.close();
    await server.close();
    await stack.stop();
  };
  return { stack, url: server.url, browser, open, faults: faults!, requested: requested!, close };
}

/** Goes to a cell and types into it. */
export async function typeInto(page: Page, cell: string, text: string): Promise<void> {
  await page.locator("cellar-grid .name-box").fill(cell);
  await page.keyboard.press("Enter");
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
}

/** Drops a file on the page, as from a folder. */
export async function dropFile(page: Page, name: string, text: string): Promise<void> {
  const transfer = await page.evaluateHandle(
    ([fileName, contents]) => {
      const data = new DataTransfer();
      data.items.add(new File([contents!], fileName!, { type: "text/csv" }));
      return data;
    },
    [name, text],
  );
  await page.locator(".screen").dispatchEvent("dragover", { dataTransfer: transfer });
  await page.locator(".drop-target").waitFor();
  await page.locator(".screen").dispatchEvent("drop", { dataTransfer: transfer });
}
