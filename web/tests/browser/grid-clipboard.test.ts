import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cell, formula, goTo, hasBrowser, notice, startGridBrowser, withGrid, type GridBrowser } from "./grid-page";

let chromium: GridBrowser;

/** Dispatches a paste as another program would cause it: with these types and a picture. */
async function pasteFrom(page: Page, plain: string, html: string): Promise<void> {
  await page.evaluate(([plain, html]) => {
    const editor = document.querySelector("cellar-grid")!.shadowRoot!.querySelector(".editor")!;
    const data = new DataTransfer();
    data.setData("text/plain", plain!);
    if (html) data.setData("text/html", html);
    data.items.add(new File(["x"], "picture.png", { type: "image/png" }));
    editor.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }, [plain, html]);
}

async function copied(page: Page): Promise<{ plain: string; html: string }> {
  return page.evaluate(() => {
    const editor = document.querySelector("cellar-grid")!.shadowRoot!.querySelector(".editor")!;
    const data = new DataTransfer();
    editor.dispatchEvent(new ClipboardEvent("copy", { clipboardData: data, bubbles: true, cancelable: true }));
    return { plain: data.getData("text/plain"), html: data.getData("text/html") };
  });
}

describe.skipIf(!hasBrowser)("clipboard", { timeout: 60_000 }, () => {
  beforeAll(async () => {
    chromium = await startGridBrowser();
  }, 60_000);
  afterAll(() => chromium?.close());

  test("a table of Excel: values from the text, shape from the HTML, text cells stay text", async () => {
    const page = await chromium.open();
    await goTo(page, "P1");
    const html = `<html><body><table><tr><td colspan=2>Total</td><td style="mso-number-format:'\\@'">0012</td></tr>
      <tr><td>####</td><td>2</td><td>3</td></tr></table></body></html>`;
    await pasteFrom(page, "Total\t\t0012\r\n1234567\t2\t3\r\n", html);
    await expect.poll(() => cell(page, 1, 15)).toBe("1234567");
    expect(await cell(page, 0, 17)).toBe("0012");
    // The row after the pasted ones is not cleared by the line break at the end.
    expect(await withGrid(page, (grid) => grid.source.log.at(-1), null)).toBe("setCells 5");
    await page.close();
  });

  test("HTML without text: line breaks by <br>, wrapped source lines are spaces, scripts do not run", async () => {
    const page = await chromium.open();
    await goTo(page, "P1");
    await pasteFrom(page, "", `<table><tr><td>one\r\n   two<br>three<br>four</td><td><img src=x onerror="window.bad=1">x</td></tr></table>`);
    await expect.poll(() => cell(page, 0, 15)).toBe("one two\nthree\nfour");
    expect(await page.evaluate(() => "bad" in window)).toBe(false);
    await page.close();
  });

  test("our own formulas are ignored if another program changed the text", async () => {
    const page = await chromium.open();
    await goTo(page, "N2");
    await page.keyboard.type("=C2*2");
    await page.keyboard.press("Enter");
    await goTo(page, "N2");
    const { plain, html } = await copied(page);
    await goTo(page, "N9");
    await pasteFrom(page, plain, html);
    await expect.poll(() => cell(page, 8, 13)).toBe("=C9*2");
    await goTo(page, "N12");
    await pasteFrom(page, "99", html);
    await expect.poll(() => cell(page, 11, 13)).toBe("99");
    await page.close();
  });

  test("formulas that another page hides under a text are not pasted; another tab's are", async () => {
    const context = await chromium.browser.newContext();
    const [page, other] = [await context.newPage(), await context.newPage()];
    for (const one of [page, other]) {
      await one.goto(chromium.address);
      await one.locator(".cell", { hasText: "Column 1" }).first().waitFor();
    }
    await goTo(other, "E4");
    const { plain, html } = await copied(other);
    await goTo(page, "P4");
    await pasteFrom(page, plain, html);
    await expect.poll(() => cell(page, 3, 15)).toMatch(/^=/);
    await goTo(page, "P5");
    await pasteFrom(page, plain, html.replace(/hash="[^ ]*/, 'hash="1-2-3-4'));
    await expect.poll(() => cell(page, 4, 15)).toBe("#DIV/0!");
    await context.close();
  });

  test("damaged contents of our own are read as text", async () => {
    const page = await chromium.open();
    await goTo(page, "A3");
    const own = await copied(page);
    for (const data of ["{", "null", `{"row":1,"column":0,"inputs":[[1]],"isCut":false}`, `{"row":1e99,"inputs":"x"}`]) {
      await goTo(page, "P3");
      await pasteFrom(page, own.plain, own.html.replace(/data-cellar="[^"]*"/, `data-cellar='${data}'`));
      await expect.poll(() => cell(page, 2, 15)).toBe(own.plain);
      await page.keyboard.press("Delete");
    }
    await page.close();
  });

  test("a formula of another program is text until it is confirmed", async () => {
    const page = await chromium.open();
    await goTo(page, "P1");
    await pasteFrom(page, "=SUM(A1:A3)\tx", "");
    await expect.poll(() => formula(page)).toBe("'=SUM(A1:A3)");
    await page.getByRole("button", { name: "Paste as formulas" }).click();
    await expect.poll(() => formula(page)).toBe("=SUM(A1:A3)");
    await page.close();
  });

  test("a confirmation after rows moved writes nothing", async () => {
    const page = await chromium.open();
    await goTo(page, "P4");
    await pasteFrom(page, "=A1", "");
    await notice(page, "pasted as text").waitFor();
    await withGrid(page, (grid) => grid.source.insertRows(0, 1), null);
    await page.getByRole("button", { name: "Paste as formulas" }).click();
    await notice(page, "The cells have moved").waitFor();
    expect(await cell(page, 3, 15)).toBe("");
    await page.close();
  });

  test("cut moves cells; their formulas read the same cells", async () => {
    const page = await chromium.open({ permissions: ["clipboard-read", "clipboard-write"] });
    await goTo(page, "N2");
    await page.keyboard.type("=C2*2");
    await page.keyboard.press("Enter");
    await goTo(page, "N2");
    await page.keyboard.press("Control+x");
    await expect.poll(() => cell(page, 1, 13)).toBe("");
    await goTo(page, "O7");
    await page.keyboard.press("Control+v");
    await expect.poll(() => cell(page, 6, 14)).toBe("=C2*2");
    await page.close();
  });

  test("copies cells that are not loaded", async () => {
    const page = await chromium.open({ permissions: ["clipboard-read", "clipboard-write"] });
    await goTo(page, "A1:A30000");
    await page.keyboard.press("Control+c");
    await notice(page, "30,000 cells copied").waitFor();
    const text = await page.evaluate(() => navigator.clipboard.readText());
    expect(text.split("\n")).toHaveLength(30_000);
    expect(text.endsWith("\n30,000")).toBe(true);
    await page.close();
  });

  test("the menu pastes what was copied", async () => {
    const page = await chromium.open({ permissions: ["clipboard-read", "clipboard-write"] });
    await page.evaluate(() => navigator.clipboard.writeText("from menu"));
    await goTo(page, "P2");
    await page.keyboard.press("Shift+F10");
    await page.getByRole("menuitem", { name: "Paste" }).click();
    await expect.poll(() => cell(page, 1, 15)).toBe("from menu");
    await page.close();
  });

  test("a viewer copies, but neither cuts nor pastes", async () => {
    const page = await chromium.open({ permissions: ["clipboard-read", "clipboard-write"] });
    await withGrid(page, (grid) => grid.source.setStatus({ role: "viewer" }), null);
    await goTo(page, "A2");
    await page.keyboard.press("Control+x");
    await notice(page, "You can view this spreadsheet but not change it").waitFor();
    expect((await copied(page)).plain).toBe("2");
    await pasteFrom(page, "new", "");
    expect(await withGrid(page, (grid) => grid.source.log.length, null)).toBe(0);
    await page.close();
  });
});
