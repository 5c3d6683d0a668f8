/** Watches the pages of a test for errors that no user should cause. */

import type { BrowserContext, ConsoleMessage, Page } from "playwright-core";

/** Chromium writes these for each request that a test loses or refuses on purpose. */
export const LOST_REQUESTS = /Failed to load resource/;
/** The bucket of a local stack answers only the page that the stack serves. Others import through the API. */
export const FOREIGN_BUCKET = /\/cellar-bucket\/.*CORS policy|Failed to load resource.*(?:\/cellar-bucket\/|\/uploads\/[\w-]+\/complete)/;

export class Guard {
  readonly #problems: string[] = [];
  readonly #secrets = new Set<string>();
  readonly #origins = new Set<string>();
  #allowed: RegExp[] = [];
  #requests = 0;

  get requests(): number {
    return this.#requests;
  }

  /** A token must never be part of a requested URL. */
  addSecret(secret: string): void {
    this.#secrets.add(secret);
  }

  /** A page may send requests to this origin. */
  addOrigin(url: string): void {
    this.#origins.add(new URL(url).origin);
  }

  /** Permits messages of the console until the end of the test. */
  allow(...messages: RegExp[]): void {
    this.#allowed.push(...messages);
  }

  async watch(context: BrowserContext): Promise<void> {
    context.on("request", (request) => {
      this.#requests += 1;
      this.#checkOrigin(request.url());
      // Playwright adds the fragment, which browsers do not send.
      this.#checkText("requested URL", request.url().split("#")[0]!);
      this.#checkText("referrer of a request", request.headers()["referer"] ?? "");
    });
    context.on("console", (message) => this.#noteMessage(message));
    context.on("page", (page) => this.#watchPage(page));
    await context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sourceFile, lineNumber }) =>
        console.error(`content security policy: ${violatedDirective} blocks ${blockedURI} at ${sourceFile}:${lineNumber}`),
      );
    });
  }

  note(problem: string): void {
    this.#problems.push(problem);
  }

  /** Returns what was seen since the last call. */
  take(): string[] {
    this.#allowed = [];
    return this.#problems.splice(0);
  }

  #checkOrigin(url: string): void {
    const { protocol, origin, hostname, pathname } = new URL(url);
    const isInPage = protocol === "blob:" || protocol === "data:" || protocol === "about:";
    const isBucket = hostname === "127.0.0.1" && pathname.startsWith("/cellar-bucket/");
    if (!isInPage && !isBucket && !this.#origins.has(origin)) this.note(`a request to another origin: ${url}`);
  }

  #watchPage(page: Page): void {
    page.on("pageerror", (error) => this.#noteUnlessAllowed(`uncaught error: ${error.stack ?? error.message}`));
    page.on("crash", () => this.#noteUnlessAllowed("the page crashed"));
    page.on("dialog", (dialog) => {
      this.note(`dialog: ${dialog.message()}`);
      dialog.dismiss().catch(() => undefined);
    });
  }

  #noteMessage(message: ConsoleMessage): void {
    this.#checkText("message of the console", message.text());
    if (message.type() === "error") this.#noteUnlessAllowed(`console: ${message.text()} (${message.location().url})`);
  }

  #noteUnlessAllowed(problem: string): void {
    if (!this.#allowed.some((allowed) => allowed.test(problem))) this.note(problem);
  }

  #checkText(what: string, text: string): void {
    for (const secret of this.#secrets) {
      if (text.includes(secret) || text.includes(encodeURIComponent(secret))) this.note(`a token is in the ${what}: ${text.replaceAll(secret, "TOKEN")}`);
    }
  }
}
