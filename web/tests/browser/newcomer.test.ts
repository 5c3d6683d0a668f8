import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeInBrowser, openList, openPage } from "./harness";
import { SheetPage } from "./sheet-page";

const AIRPORTS = new URL("../../../tests/data/airports.csv", import.meta.url);

async function dropFile(page: Page, name: string, text: string): Promise<void> {
  const dataTransfer = await page.evaluateHandle(
    ([fileName, contents]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([contents!], fileName!, { type: "text/csv" }));
      return transfer;
    },
    [name, text],
  );
  const target = page.locator("main").first();
  for (const type of ["dragenter", "dragover", "drop"]) await target.dispatchEvent(type, { dataTransfer });
}

describeInBrowser("a newcomer", (harness) => {
  test("opens the link, drops a file, edits a cell, and finds the edit after a reload and with `cellar get`", async () => {
    harness.allowForeignBucket();
    const page = await openList(harness, await harness.newContext());
    await page.getByText("No spreadsheets yet.").waitFor();
    expect(page.url()).not.toContain("token");
    await dropFile(page, "airports.csv", await readFile(AIRPORTS, "utf8"));
    const sheet = new SheetPage(page);
    await sheet.cell("Bay Springs").waitFor();
    const [spreadsheet] = /[0-9a-f-]{36}/.exec(page.url())!;
    await sheet.enter("B2", "Thigpen Field");
    await sheet.enter("H2", "=F2+1");
    await sheet.saved();
    await page.getByText("Saved", { exact: true }).waitFor();
    await page.reload();
    await sheet.cell("Thigpen Field").waitFor();
    expect(await sheet.contents("H2")).toBe("=F2+1");
    const output = JSON.parse(await harness.stack.cellar("get", "A2:H2", "-s", spreadsheet, "--json")) as { texts: string[] };
    expect(output.texts.slice(0, 3)).toEqual(["00M", "Thigpen Field", "Bay Springs"]);
    expect(Number(output.texts[7])).toBeCloseTo(32.95376472);
    await page.getByRole("link", { name: "Cellar" }).click();
    await page.getByRole("link", { name: "airports" }).waitFor();
  });

  test("gives a viewer a link that shows cells and edits nothing", async () => {
    const spreadsheet = await harness.stack.create("shared by link");
    await harness.stack.cellar("set", "-s", spreadsheet, "A1", "visible");
    const owner = await openPage(harness, await harness.newContext(), spreadsheet);
    await owner.getByRole("button", { name: "Share" }).click();
    await owner.getByRole("button", { name: "Create link" }).click();
    const address = await owner.getByLabel("New link, shown only once").inputValue();
    const [, secret] = /link=([\w-]+)$/.exec(address)!;
    harness.guard.addSecret(secret!);
    const viewer = new SheetPage(await (await harness.newContext()).newPage());
    await viewer.page.goto(harness.addressOnPage(address));
    await viewer.cell("visible").waitFor();
    await viewer.enter("A1", "changed");
    await viewer.goTo("A1");
    await viewer.page.keyboard.press("Delete");
    await viewer.page.keyboard.press("F2");
    await viewer.page.keyboard.type("changed");
    await viewer.page.keyboard.press("Enter");
    await viewer.goTo("A1");
    await viewer.page.keyboard.press("Shift+F10");
    const enabled = viewer.page.getByRole("menuitem", { name: /^(Insert|Delete|Clear|Paste|Cut)/, disabled: false });
    expect(await enabled.allTextContents()).toEqual([]);
    await viewer.page.keyboard.press("Escape");
    await expect.poll(() => viewer.contents("A1")).toBe("visible");
    expect((await viewer.status()).pending).toBe(0);
    await viewer.page.getByText(/read-only/i).first().waitFor();
    expect(await harness.stack.cellar("get", "A1", "-s", spreadsheet, "--json")).toContain("visible");
    // The owner ends the link, and a page that is opened again shows no cells.
    await owner.getByRole("button", { name: /^Revoke link/ }).click();
    await owner.getByRole("button", { name: "Revoke", exact: true }).click();
    await owner.getByText("The link is revoked").waitFor();
  });

  test("signs in as a person, who sees only what was shared", async () => {
    harness.guard.allow(/Failed to load resource.*(403|404)/);
    const [token, shared, secret] = await Promise.all([harness.tokenOf("bob"), harness.stack.create("for bob"), harness.stack.create("not for bob")]);
    await harness.stack.cellar("share", "bob", "--role", "editor", "-s", shared!);
    await harness.stack.cellar("set", "-s", shared!, "A1", "hello bob");
    const page = await openPage(harness, await harness.newContext(), shared!, { token: token! });
    const sheet = new SheetPage(page);
    await sheet.cell("hello bob").waitFor();
    await sheet.enter("A2", "hello owner");
    await sheet.saved();
    expect(await harness.stack.cellar("history", "-s", shared!, "--json")).toContain('"author":"bob"');
    await page.goto(`${harness.pageUrl}/#/s/${secret}`);
    await page.getByRole("heading", { name: /not|access|no /i }).first().waitFor();
    expect(await page.locator("cellar-grid").count()).toBe(0);
  });
});
