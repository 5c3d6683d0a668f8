/** Signing in with an issuer, in Chromium. The stack gets the operator's token, because it does not know the issuer. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startIssuer, type Issuer } from "./issuer";
import { CAN_TEST_PAGE, startPageWorld, type PageWorld } from "./page";

describe.skipIf(!CAN_TEST_PAGE)("the page with an issuer", { timeout: 60_000 }, () => {
  let world: PageWorld;
  let issuer: Issuer;

  beforeAll(async () => {
    [world, issuer] = await Promise.all([startPageWorld(), startIssuer()]);
  }, 60_000);

  afterAll(async () => {
    await world?.close();
    await issuer?.close();
  });

  /** Makes the stack of this page accept the issuer. Returns the tokens that the page sends. */
  async function acceptIssuer(page: Page): Promise<string[]> {
    const sent: string[] = [];
    await page.route("**/v1/**", async (route) => {
      const headers = await route.request().allHeaders();
      const token = headers["authorization"]?.replace("Bearer ", "") ?? "";
      sent.push(token);
      const isKnown = issuer.tokens.includes(token);
      await route.continue(isKnown ? { headers: { ...headers, authorization: `Bearer ${world.stack.token}` } } : {});
    });
    const issuers = [{ issuer: issuer.url, client_id: issuer.clientId, name: "Example" }];
    await page.route("**/v1/config", (route) => route.fulfill({ json: { issuers } }));
    return sent;
  }

  test("returns to the route, renews the token once, and leaves no code in the address", async () => {
    const id = await world.stack.create("Minutes");
    await world.stack.cellar("set", "-s", id, "A1", "agenda");
    const page = await world.open("#/");
    const sent = await acceptIssuer(page);
    await page.goto(`${world.url}/#/s/${id}`);
    await page.getByRole("button", { name: "Sign in with Example" }).click();
    await page.locator("cellar-grid .cell", { hasText: "agenda" }).waitFor();
    expect(page.url()).toBe(`${world.url}/#/s/${id}`);
    expect(issuer.refreshes).toBe(1);
    // The first token is about to expire, so only the renewed one is sent.
    expect(new Set(sent.filter((token) => token !== ""))).toEqual(new Set([issuer.tokens[1]]));

    await page.reload();
    await page.locator("cellar-grid .cell", { hasText: "agenda" }).waitFor();
    expect(issuer.refreshes).toBe(1);
    await page.context().close();
  });

  test("a new tab takes the session of the first one, until one of them signs out", async () => {
    const first = await world.open();
    await first.getByRole("heading", { name: "Spreadsheets" }).waitFor();
    const second = await first.context().newPage();
    await second.goto(`${world.url}/`);
    await second.getByRole("heading", { name: "Spreadsheets" }).waitFor();
    // Signing out ends both, and a reload brings neither back.
    await second.getByRole("button", { name: "Sign out" }).click();
    await first.getByRole("heading", { name: "Sign in to Cellar" }).waitFor();
    await second.reload();
    await second.getByRole("heading", { name: "Sign in to Cellar" }).waitFor();
    await first.context().close();
  });

  test("an answer that the page did not ask for is refused", async () => {
    const page = await world.open("?code=stolen&state=forged");
    await page.getByRole("heading", { name: "Sign-in failed" }).waitFor();
    expect(page.url()).toBe(`${world.url}/`);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Sign in to Cellar" }).waitFor();
    await page.context().close();
  });

  test("the page throws nothing", () => {
    expect(world.faults).toEqual([]);
  });
});
