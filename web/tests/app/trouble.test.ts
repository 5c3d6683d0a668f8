/** What the page does without a network, with an expired token, and when there is a new build of it. */

import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
// @ts-expect-error The server is plain JavaScript, because it is also a command.
import { startDevServer } from "../dev-server.mjs";
import { CAN_TEST_PAGE, startPageWorld, typeInto, type PageWorld } from "./page";

describe.skipIf(!CAN_TEST_PAGE)("the page in trouble", { timeout: 60_000 }, () => {
  let world: PageWorld;

  beforeAll(async () => {
    world = await startPageWorld();
  }, 60_000);

  afterAll(async () => {
    await world?.close();
  });

  test("opens without a network after a first visit, and sends the edits that were made", async () => {
    const id = await world.stack.create("Trip");
    await world.stack.cellar("set", "-s", id, "A1", "before");
    const page = await world.open();
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
    await page.goto(`${world.url}/#/s/${id}`);
    await page.locator("cellar-grid .cell", { hasText: "before" }).waitFor();

    await page.context().setOffline(true);
    await typeInto(page, "B1", "written on the train");
    await page.locator(".status", { hasText: /Offline · 1 edit waits/ }).waitFor();
    await page.reload();
    await page.locator(".status", { hasText: "Offline" }).waitFor();
    const menu = page.getByRole("button", { name: "More commands" });
    const download = page.getByRole("menuitem", { name: "Download unsent edits" });
    await menu.click();
    await download.waitFor();
    await page.keyboard.press("Escape");

    await page.context().setOffline(false);
    await page.locator("cellar-grid .cell", { hasText: "written on the train" }).waitFor();
    await expect.poll(() => world.stack.cellar("get", "-s", id, "--range", "B1"), { timeout: 20_000 }).toContain("train");
    await page.locator(".status", { hasText: "Saved" }).waitFor();
    await menu.click();
    await download.waitFor({ state: "detached" });
    await page.context().close();
  });

  test("asks to sign in again when the token has expired, and sends the edit that waited", async () => {
    const id = await world.stack.create("Long day");
    const page = await world.open();
    await page.goto(`${world.url}/#/s/${id}`);
    await page.locator(".status", { hasText: "Saved" }).waitFor();
    const detail = "the token expired 3 s ago";
    const body = JSON.stringify({ type: "urn:cellar:problem:unauthorized", title: "Missing or invalid token", status: 401, detail });
    await page.route("**/v1/**", async (route) => {
      const isRenewed = (await route.request().headerValue("authorization")) !== `Bearer ${world.stack.token}`;
      await (isRenewed ? route.continue() : route.fulfill({ status: 401, contentType: "application/problem+json", body }));
    });
    await typeInto(page, "A1", "late edit");
    await page.getByRole("button", { name: "Sign in again" }).click();
    await page.getByRole("dialog").getByLabel("Token or share link").fill(await world.stack.tokenOf("operator"));
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await expect.poll(() => world.stack.cellar("get", "-s", id, "--range", "A1"), { timeout: 30_000 }).toContain("late edit");
    await page.context().close();
  });

  test("offers a new build, and loads it when the user accepts", async () => {
    let build = "1";
    const dist = new URL("../../dist/", import.meta.url);
    const readDist = async (name: string) => {
      const text = await readFile(new URL(name, dist), "utf8");
      return name === "sw.js" ? text.replace(/"([0-9a-f]{8})"/, `"$1-${build}"`) : text;
    };
    const server = (await startDevServer(world.stack.url, 0, { readDist })) as { url: string; close(): Promise<void> };
    const page = await (await world.browser.newContext()).newPage();
    await page.goto(`${server.url}/#token=${world.stack.token}`);
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
    await page.reload();
    build = "2";
    await page.evaluate(() => navigator.serviceWorker.getRegistration().then((registration) => registration?.update()).then(() => undefined));
    const loaded = page.waitForEvent("load");
    await page.getByRole("button", { name: "Load it" }).click();
    await loaded;
    const names = () => page.evaluate(() => caches.keys());
    await expect.poll(names).toEqual([expect.stringMatching(/^cellar-page-[0-9a-f]{8}-2$/)]);
    expect(await page.evaluate(async () => (await (await caches.open((await caches.keys())[0]!)).keys()).some(({ url }) => url.includes("/v1/")))).toBe(false);
    await page.context().close();
    await server.close();
  });

  test("a spreadsheet that is not there says what to do", async () => {
    const page = await world.open();
    await page.goto(`${world.url}/#/s/00000000-0000-8000-8000-000000000000`);
    await page.getByRole("heading", { name: "Not found" }).waitFor();
    await page.getByRole("link", { name: "Show all spreadsheets" }).click();
    await page.getByRole("heading", { name: "Spreadsheets" }).waitFor();
    await page.context().close();
  });

  test("the page throws nothing", () => {
    expect(world.faults).toEqual([]);
  });
});
