/** The first minutes of a newcomer with the page, in Chromium, with a real stack. */

import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CAN_TEST_PAGE, dropFile, startPageWorld, typeInto, type PageWorld } from "./page";

describe.skipIf(!CAN_TEST_PAGE)("the page", { timeout: 60_000 }, () => {
  let world: PageWorld;

  beforeAll(async () => {
    world = await startPageWorld();
  }, 60_000);

  afterAll(async () => {
    await world?.close();
  });

  test("a newcomer opens the printed link, drops a file, edits, and sees the edit again", async () => {
    const page = await world.open();
    await page.getByText("No spreadsheets yet.").waitFor();
    expect(new URL(page.url()).hash).toBe("#/");

    await dropFile(page, "airports.csv", await readFile(new URL("../../../tests/data/airports.csv", import.meta.url), "utf8"));
    await page.locator("cellar-grid .cell", { hasText: "Bay Springs" }).waitFor();
    const id = /#\/s\/([0-9a-f-]{36})$/.exec(page.url())?.[1];
    expect(id).toBeDefined();

    await typeInto(page, "C2", "Bay of Springs");
    await page.locator(".status", { hasText: /^Saved$/ }).waitFor();
    await page.reload();
    await page.locator("cellar-grid .cell", { hasText: "Bay of Springs" }).waitFor();

    expect(await world.stack.cellar("get", "-s", id!, "--range", "C2")).toContain("Bay of Springs");
    await page.context().close();
  });

  test("the holder of a share link sees cells without a token, and cannot edit as a viewer", async () => {
    const id = await world.stack.create("Shared");
    await world.stack.cellar("set", "-s", id, "A1", "visible");
    const printed = JSON.parse(await world.stack.cellar("links", "create", "-s", id, "--json")) as { token: string };
    const secret = printed.token.split(".")[2]!;
    const page = await world.open(`#/s/${id}?link=${secret}`);
    await page.locator("cellar-grid .cell", { hasText: "visible" }).waitFor();
    await page.locator(".status", { hasText: "Read-only: the share link is for viewers" }).waitFor();
    await typeInto(page, "A1", "changed");
    await page.locator("cellar-grid .cell", { hasText: "visible" }).waitFor();
    expect(await world.stack.cellar("get", "-s", id, "--range", "A1")).toContain("visible");
    await page.context().close();
  });

  test("without a token, the page asks for one and then shows what was asked for", async () => {
    const id = await world.stack.create("Plans");
    const page = await world.open(`#/s/${id}`);
    await page.getByLabel("Token or share link").fill("not-a-token");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").filter({ hasText: /token/i }).waitFor();
    await page.getByLabel("Token or share link").fill(world.stack.token);
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Name of the spreadsheet" }).waitFor();
    expect(page.url()).toBe(`${world.url}/#/s/${id}`);
    await page.context().close();
  });

  test("a spreadsheet is created, renamed, archived, deleted and undeleted", async () => {
    const page = await world.open();
    await page.getByRole("button", { name: "New spreadsheet" }).first().click();
    await page.getByRole("textbox", { name: "Name of the spreadsheet" }).fill("Weather");
    await page.keyboard.press("Enter");
    await page.locator(".status", { hasText: "Saved" }).waitFor();
    await page.getByRole("link", { name: "Cellar" }).click();
    const row = page.getByRole("row", { name: /Weather/ });
    await row.waitFor();
    const run = async (command: string) => {
      await row.getByRole("button").click();
      await page.getByRole("menuitem", { name: command }).click();
      await page.getByRole("dialog").getByRole("button", { name: command }).click();
      await page.getByRole("dialog").waitFor({ state: "hidden" });
      await row.waitFor({ state: "hidden" });
    };
    await run("Archive");
    await page.getByRole("radio", { name: "Archived" }).check({ force: true });
    await row.waitFor();
    await run("Delete");
    await page.getByRole("radio", { name: "Deleted" }).check({ force: true });
    await row.waitFor();
    await run("Undelete");
    await page.getByRole("radio", { name: "Active" }).check({ force: true });
    await row.waitFor();
    await page.context().close();
  });

  test("the token is never part of a requested URL, and the page throws nothing", () => {
    expect(world.requested.length).toBeGreaterThan(50);
    expect(world.requested.filter((url) => url.includes(world.stack.token) || url.includes("#"))).toEqual([]);
    expect(world.faults).toEqual([]);
  });
});
