import type { Page, Route } from "playwright-core";
import { expect, test } from "vitest";
import { describeInBrowser } from "./harness";
import { SheetPage } from "./sheet-page";

/** Holds the requests of a page to the stack, so that a test sees which of them wait for others. */
class HeldRequests {
  readonly #held: Route[] = [];
  readonly sent: string[] = [];

  async hold(page: Page): Promise<void> {
    await page.route("**/v1/**", (route) => {
      const { pathname, searchParams } = new URL(route.request().url());
      const query = ["sheet", "range"].flatMap((name) => searchParams.get(name) ?? []);
      this.sent.push([pathname.split("/").slice(4).join("/"), ...query].join(" "));
      this.#held.push(route);
    });
  }

  /** Answers the requests that were sent until now, in the reverse of their order. Later ones are held. */
  async answer(): Promise<void> {
    for (const route of this.#held.splice(0).reverse()) await route.continue();
  }
}

describeInBrowser("opening a link", (harness) => {
  const share = async (): Promise<string> => {
    const id = await harness.stack.create("opened");
    await harness.stack.cellar("set", "A1", "first", "-s", id);
    await harness.stack.cellar("sheets", "add", "Other", "-s", id);
    await harness.stack.cellar("set", "Other!C900", "far", "-s", id);
    const { url } = JSON.parse(await harness.stack.cellar("links", "create", "-s", id, "--role", "editor", "--json")) as { url: string };
    harness.guard.addSecret(url.split("link=")[1]!);
    return harness.addressOnPage(url);
  };

  const shown: [title: string, query: string, cells: string, text: string][] = [
    ["the first sheet", "", "cells A1:AF128", "first"],
    ["the sheet and cell of the address", "&sheet=Other&cell=C900", "cells Other A897:AF1024", "far"],
  ];
  test.each(shown)("takes three requests, sent together, to the first cells of %s", async (_title, query, cells, text) => {
    const page = await (await harness.newContext()).newPage();
    const requests = new HeldRequests();
    await requests.hold(page);
    await page.goto((await share()) + query);
    await expect.poll(() => requests.sent.length).toBeGreaterThanOrEqual(3);
    // One that waits for another would not be among them.
    expect([...requests.sent].sort()).toEqual([cells, "details", "sheets"]);
    await requests.answer();
    // The next requests are not answered, so that the cells need none of them.
    await new SheetPage(page).cell(text).waitFor();
    expect(requests.sent.filter((request) => !/^(pokes|head|presence)$/.test(request)).sort()).toEqual([cells, "details", "sheets"]);
  });
});
