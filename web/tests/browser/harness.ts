/**
 * A real stack, a web server and Chromium for the tests of a file. A test fails if a page of it logs an error,
 * violates the content security policy, or has a token in a requested URL.
 */

import { existsSync } from "node:fs";
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect } from "vitest";
import { HAS_STACK, startStack, type Stack } from "../stack";
import { startFaultProxy, type FaultProxy } from "./faults";
import { Guard } from "./guard";
import { startSite, type Site } from "./site";

export const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
/** `stack`: the page that the stack serves. `site`: the folder `dist`, served by the test. */
const SERVER_OF_PAGE = process.env["CELLAR_PAGE"] ?? "site";
const START_MS = 60_000;

export interface NewContext extends BrowserContextOptions {
  /** Where the context sends its requests. By default, directly to the site. */
  url?: string;
}

export class Harness {
  readonly guard = new Guard();
  browser!: Browser;
  stack!: Stack;
  url!: string;
  #site: Site | undefined;
  readonly #contexts = new Set<BrowserContext>();
  #closers: { close(): Promise<void> }[] = [];

  async start(): Promise<void> {
    [this.stack, this.browser] = await Promise.all([startStack(), launchBrowser()]);
    this.guard.addSecret(this.stack.token);
    if (SERVER_OF_PAGE === "site") this.#site = await startSite(this.stack.url);
    this.url = this.#site?.url ?? this.stack.url;
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
    const faults = await startFaultProxy(this.stack.url);
    const site = await startSite(faults.url);
    this.#closers.push(site, faults);
    for (const { url } of [site, faults]) this.guard.addOrigin(url);
    return { url: site.url, faults };
  }

  /** Creates the token of a person, which must then be in no URL. */
  async tokenOf(subject: string): Promise<string> {
    const token = await this.stack.tokenOf(subject);
    this.guard.addSecret(token);
    return token;
  }

  /** Moves an address of the stack, such as a share link, to the server of the page. */
  pageUrl(address: string): string {
    return address.replace(this.stack.url, this.url);
  }

  /** Serves the page without a content security policy. It ends with the test. */
  async siteWithoutPolicy(): Promise<string> {
    const site = await startSite(this.stack.url, { policy: null });
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
