/**
 * A real stack, a web server and Chromium for the tests of a file. A test fails if a page of it logs an error,
 * violates the content security policy, or has a token in a requested URL.
 */

import { existsSync } from "node:fs";
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect } from "vitest";
import { HAS_STACK, startStack, type Stack } from "../stack";
import { FaultProxy } from "../fault-proxy";
import { FOREIGN_BUCKET, Guard } from "./guard";
import { startSite, type Site } from "./site";

export const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
/** `stack`: the page that the program of the stack contains. `dist`: the folder, as it was built last. */
const IS_PAGE_OF_STACK = process.env["CELLAR_PAGE"] === "stack";
const SITE = { isPageOfStack: IS_PAGE_OF_STACK };
const START_MS = 60_000;

export class Harness {
  readonly guard = new Guard();
  browser!: Browser;
  stack!: Stack;
  /** URL of the examples, and of a page whose requests may be lost. */
  url!: string;
  /** URL of the page. */
  pageUrl!: string;
  #site: Site | undefined;
  readonly #contexts = new Set<BrowserContext>();
  #closers: { close(): Promise<void> }[] = [];

  async start(): Promise<void> {
    [this.stack, this.browser] = await Promise.all([startStack(), launchBrowser()]);
    this.guard.addSecret(this.stack.token);
    this.#site = await startSite(this.stack.url, SITE);
    this.url = this.#site.url;
    this.pageUrl = IS_PAGE_OF_STACK ? this.stack.url : this.url;
    // The stack also serves the chunks of snapshots.
    for (const url of [this.url, this.stack.url]) this.guard.addOrigin(url);
  }

  async stop(): Promise<void> {
    await this.browser?.close();
    await this.#site?.close();
    await this.stack?.stop();
  }

  /** A browser profile of its own. It is closed at the end of the test. */
  async newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", ...options });
    this.#contexts.add(context);
    await this.guard.watch(context);
    return context;
  }

  /** Serves the page with a proxy before the stack that can lose requests. It ends with the test. */
  async proxy(): Promise<{ url: string; faults: FaultProxy }> {
    const faults = await FaultProxy.start(this.stack.url);
    const site = await startSite(faults.url, SITE);
    this.#closers.push(site, faults);
    for (const { url } of [site, faults]) this.guard.addOrigin(url);
    return { url: site.url, faults };
  }

  /** Permits that the page cannot use the bucket, if the stack does not serve the page. */
  allowForeignBucket(): void {
    if (!IS_PAGE_OF_STACK) this.guard.allow(FOREIGN_BUCKET);
  }

  /** Creates the token of a person, which must then be in no URL. */
  async tokenOf(subject: string): Promise<string> {
    const token = await this.stack.tokenOf(subject);
    this.guard.addSecret(token);
    return token;
  }

  /** Moves an address of the stack, such as a share link, to the server of the page. */
  addressOnPage(address: string): string {
    return address.replace(this.stack.url, this.pageUrl);
  }

  /** Serves the page without a content security policy. It ends with the test. */
  async siteWithoutPolicy(): Promise<string> {
    const site = await startSite(this.stack.url, { ...SITE, policy: null });
    this.#closers.push(site);
    this.guard.addOrigin(site.url);
    return site.url;
  }

  /** Kills the process of a tab, as a lack of memory would. */
  async crash(page: Page): Promise<void> {
    const session = await page.context().newCDPSession(page);
    const crashed = page.waitForEvent("crash");
    session.send("Page.crash").catch(() => undefined);
    await crashed;
    await page.close();
  }

  async endTest(): Promise<void> {
    await Promise.all([...this.#contexts].map((context) => context.close()));
    this.#contexts.clear();
    await Promise.all(this.#closers.map((closer) => closer.close()));
    this.#closers = [];
    expect(this.guard.take(), "problems that the pages of this test reported").toEqual([]);
  }
}

export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu"],
    ignoreDefaultArgs: ["--hide-scrollbars"],
  });
}

/** Defines a group of tests with a stack and a browser. Machines without one of them skip it, except in CI. */
export function describeInBrowser(title: string, define: (harness: Harness) => void): void {
  const canRun = existsSync(CHROMIUM) && HAS_STACK;
  describe.skipIf(!canRun && process.env["CI"] === undefined)(title, { timeout: 60_000 }, () => {
    const harness = new Harness();
    beforeAll(() => harness.start(), START_MS);
    afterEach(() => harness.endTest());
    afterAll(() => harness.stop(), START_MS);
    define(harness);
  });
}

/** Opens the plain example: the element and the data layer without the page around them. */
export async function openPlain(harness: Harness, context: BrowserContext, spreadsheet: string, options: { token?: string; url?: string } = {}): Promise<Page> {
  const page = await context.newPage();
  const fragment = new URLSearchParams({ spreadsheet, token: options.token ?? harness.stack.token });
  await page.goto(`${options.url ?? harness.url}/examples/plain.html#${fragment}`);
  await page.locator("cellar-grid").locator(".row-header").first().waitFor();
  return page;
}

/** Opens the page as `deploy --local` prints it, and then a spreadsheet. */
export async function openPage(harness: Harness, context: BrowserContext, spreadsheet: string, options: { token?: string; url?: string } = {}): Promise<Page> {
  const { token = harness.stack.token, url = harness.pageUrl } = options;
  const page = await openList(harness, context, { token, url });
  await page.goto(`${url}/#/s/${spreadsheet}`);
  await page.locator("cellar-grid .row-header:visible").first().waitFor();
  return page;
}

export async function openList(harness: Harness, context: BrowserContext, { token = harness.stack.token, url = harness.pageUrl } = {}): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${url}/#token=${token}`);
  await page.getByRole("heading", { name: "Spreadsheets" }).waitFor();
  return page;
}
