import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { PANEL_NAMES } from "../../src/app/panel-names";
import { OFFLINE } from "../fault-proxy";
import { LOST_REQUESTS } from "./guard";
import { describeInBrowser, openList, openPage, openPlain } from "./harness";
import { pause } from "./grid-page";
import { SheetPage } from "./sheet-page";
import { storedText } from "./storage";

const HOSTILE = [
  "<script>globalThis.attacked = 1</script>",
  "<img src=/attack onerror='globalThis.attacked = 1'>",
  "\"><svg onload='globalThis.attacked = 1'>",
  "javascript:globalThis.attacked=1",
  "{{constructor.constructor('globalThis.attacked=1')()}}",
  "</style><script>globalThis.attacked = 1</script>",
];
const HOSTILE_FORMULAS = [
  '=HYPERLINK("javascript:globalThis.attacked=1","click")',
  '=WEBSERVICE("/attack")',
  '=IMAGE("/attack")',
  '=IMPORTXML("/attack","//a")',
  '=T("<img src=/attack onerror=globalThis.attacked=1>")',
];

async function expectUnharmed(page: Page, requested: readonly string[]): Promise<void> {
  // What a script would do later has been done by then.
  await pause(page, 300);
  expect(await page.evaluate(() => "attacked" in globalThis)).toBe(false);
  expect(requested.filter((url) => url.includes("attack"))).toEqual([]);
  // Selectors of Playwright also search the shadow tree of the element.
  const dangerous = "script:not([src]), img, svg[onload], iframe, object, embed, [onerror], a[href^='javascript:' i]";
  expect(await page.locator(dangerous).count()).toBe(0);
}

describeInBrowser("hostile contents", (harness) => {
  async function open(spreadsheet: string, url = harness.url): Promise<{ sheet: SheetPage; requested: string[] }> {
    const context = await harness.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
    const requested: string[] = [];
    context.on("request", (request) => requested.push(request.url()));
    return { sheet: new SheetPage(await openPlain(harness, context, spreadsheet, { url })), requested };
  }

  test("cells, formulas and sheet names are shown as text and do nothing", async () => {
    const spreadsheet = await harness.stack.create("hostile");
    const texts = HOSTILE.flatMap((text, row) => [`A${row + 1}`, text]);
    await harness.stack.cellar("set", "-s", spreadsheet, ...texts);
    for (const [row, formula] of HOSTILE_FORMULAS.entries()) await harness.stack.cellar("set", "-s", spreadsheet, `B${row + 1}`, formula);
    await harness.stack.cellar("sheets", "add", "-s", spreadsheet, "<img src=attack onerror=a()>");
    const { sheet, requested } = await open(spreadsheet);
    await sheet.cell("<script>").waitFor();
    for (const [row, text] of HOSTILE.entries()) expect(await sheet.contents(`A${row + 1}`)).toBe(text);
    for (const [row, formula] of HOSTILE_FORMULAS.entries()) expect(await sheet.contents(`B${row + 1}`)).toBe(formula);
    for (let row = 1; row <= HOSTILE.length; row++) {
      const box = await sheet.grid.locator(".row:visible").nth(row - 1).boundingBox();
      await sheet.page.mouse.dblclick(box!.x + 100, box!.y + 12);
      await sheet.page.keyboard.press("Escape");
    }
    await expect.poll(() => sheet.grid.getByRole("tab").allTextContents()).toContain("<img src=attack onerror=a()>");
    await expectUnharmed(sheet.page, requested);
  });

  test("names, authors and labels are shown as text in the page and its panels", async () => {
    const [name, sheetName] = ["<img src=/attack onerror=globalThis.attacked=1>", "<svg onload=a()>attack"];
    const spreadsheet = await harness.stack.create(name);
    await harness.stack.cellar("sheets", "add", "-s", spreadsheet, sheetName);
    await harness.stack.cellar("set", "-s", spreadsheet, "A1", HOSTILE[1]!, "A2", HOSTILE[0]!);
    await harness.stack.cellar("links", "create", "-s", spreadsheet, "--label", name);
    await harness.stack.cellar("share", name, "--role", "editor", "-s", spreadsheet);
    const context = await harness.newContext();
    const requested: string[] = [];
    context.on("request", (request) => requested.push(request.url()));
    const list = await openList(harness, context);
    await list.getByRole("link", { name }).waitFor();
    await expectUnharmed(list, requested);
    const page = await openPage(harness, context, spreadsheet);
    await expect.poll(() => page.title()).toContain(name);
    for (const panel of Object.values(PANEL_NAMES)) {
      await page.getByRole("button", { name: "More commands" }).click();
      await page.getByRole("menuitem", { name: panel, exact: true }).click();
      await page.locator("aside.panel").getByRole("heading").first().waitFor();
      await expectUnharmed(page, requested);
    }
    await page.goto(`${harness.pageUrl}/#/s/${spreadsheet}?sheet=${encodeURIComponent("<script>globalThis.attacked=1</script>")}&cell=javascript:globalThis.attacked=1`);
    await page.goto(`${harness.pageUrl}/#/<img src=/attack onerror=globalThis.attacked=1>`);
    await page.getByRole("heading").first().waitFor();
    await expectUnharmed(page, requested);
  });

  test.each(["under the policy", "without a policy"])("%s, pasted HTML loads and runs nothing; a pasted formula is a text", async (policy) => {
    // Chromium reports handlers also in documents that never run them.
    harness.guard.allow(/inline event handler/, /script-src-attr blocks inline/);
    const spreadsheet = await harness.stack.create("paste");
    const { sheet, requested } = await open(spreadsheet, policy.startsWith("under") ? undefined : await harness.siteWithoutPolicy());
    await sheet.goTo("A1");
    await sheet.page.evaluate(async () => {
      const html = "<table><tr><td><img src=/attack onerror='globalThis.attacked=1'>=1+1<script>globalThis.attacked=1</script></td></tr></table>";
      const item = (type: string, text: string) => ({ [type]: new Blob([text], { type }) });
      await navigator.clipboard.write([new ClipboardItem({ ...item("text/html", html), ...item("text/plain", "=1+1") })]);
    });
    await sheet.page.keyboard.press("Control+v");
    await expect.poll(() => sheet.contents("A1")).toBe("'=1+1");
    await sheet.saved();
    expect(await harness.stack.cellar("get", "-s", spreadsheet, "--json")).toContain('"value":"=1+1"');
    await expectUnharmed(sheet.page, requested);
  });

  test("the token is in no storage, not even while edits wait", async () => {
    harness.guard.allow(LOST_REQUESTS);
    const spreadsheet = await harness.stack.create("storage");
    const proxy = await harness.proxy();
    const page = await openPlain(harness, await harness.newContext(), spreadsheet, proxy);
    const sheet = new SheetPage(page);
    proxy.faults.plan = OFFLINE;
    await sheet.enter("A1", "waits");
    await expect.poll(async () => (await sheet.status()).pending).toBe(1);
    const stored = await storedText(page);
    expect(stored).toContain("waits");
    expect(stored).not.toContain(harness.stack.token);
    expect(stored).not.toContain(harness.stack.token.split(".")[2]);
  });
});
