import type { CDPSession } from "playwright-core";
import { expect, test } from "vitest";
import { describeInBrowser, openPlain } from "./harness";
import { readCells } from "./log";
import { SheetPage } from "./sheet-page";

const LAST_ROW = 2 ** 30;

describeInBrowser("input", (harness) => {
  async function open(spreadsheet: string, options = {}): Promise<SheetPage> {
    return new SheetPage(await openPlain(harness, await harness.newContext(options), spreadsheet));
  }

  /** Composes as an input method does: each text replaces the previous one, and the last one is committed. */
  async function compose(session: CDPSession, steps: readonly string[], committed: string): Promise<void> {
    for (const text of steps) await session.send("Input.imeSetComposition", { text, selectionStart: text.length, selectionEnd: text.length });
    await session.send("Input.insertText", { text: committed });
  }

  test("an input method composes over the active cell and in an open editor; no letter is lost or doubled", async () => {
    const spreadsheet = await harness.stack.create("input method");
    const sheet = await open(spreadsheet);
    const session = await sheet.page.context().newCDPSession(sheet.page);
    await sheet.goTo("A1");
    await compose(session, ["に", "にh", "にほ", "にほん", "日本"], "日本");
    await sheet.page.keyboard.press("Enter");
    await compose(session, ["ㅎ", "하", "한"], "한");
    await compose(session, ["ㄱ", "그", "글"], "글");
    await sheet.page.keyboard.press("Enter");
    // A canceled composition leaves nothing, and the cell takes typed text afterwards.
    await session.send("Input.imeSetComposition", { text: "zhong", selectionStart: 5, selectionEnd: 5 });
    await session.send("Input.imeSetComposition", { text: "", selectionStart: 0, selectionEnd: 0 });
    await sheet.page.keyboard.press("Escape");
    await sheet.page.keyboard.type("plain");
    await sheet.page.keyboard.press("Enter");
    await sheet.goTo("A1");
    await sheet.page.keyboard.press("F2");
    await compose(session, ["ご"], "語");
    await sheet.page.keyboard.press("Tab");
    await sheet.saved();
    expect(await readCells(harness.stack, spreadsheet)).toEqual({ "0,0": "日本語", "1,0": "한글", "2,0": "plain" });
  });

  test("the key that ends a composition does not move the cell", async () => {
    const spreadsheet = await harness.stack.create("composition keys");
    const sheet = await open(spreadsheet);
    const session = await sheet.page.context().newCDPSession(sheet.page);
    await sheet.goTo("B2");
    await session.send("Input.imeSetComposition", { text: "か", selectionStart: 1, selectionEnd: 1 });
    // An input method takes the key, so that the browser reports it as 229.
    await session.send("Input.dispatchKeyEvent", { type: "rawKeyDown", windowsVirtualKeyCode: 229, key: "Process", code: "Enter" });
    await session.send("Input.insertText", { text: "蚊" });
    await session.send("Input.dispatchKeyEvent", { type: "keyUp", windowsVirtualKeyCode: 13, key: "Enter", code: "Enter" });
    await sheet.drawn();
    expect(await sheet.grid.locator(".name-box").inputValue()).toBe("B2");
    await sheet.page.keyboard.press("Enter");
    await sheet.saved();
    expect(await readCells(harness.stack, spreadsheet)).toEqual({ "1,1": "蚊" });
  });

  test.each([0.5, 0.67, 1.1, 2])("at zoom %d, the first and last row are reached, clicked and edited", async (zoom) => {
    const spreadsheet = await harness.stack.create(`zoom ${zoom}`);
    await harness.stack.cellar("set", "-s", spreadsheet, "A1", "first", `C${LAST_ROW}`, "last");
    const sheet = await open(spreadsheet, { viewport: { width: Math.round(1280 / zoom), height: Math.round(800 / zoom) }, deviceScaleFactor: zoom });
    await sheet.cell("first").waitFor();
    await sheet.page.mouse.click(150, 150);
    await sheet.page.keyboard.press("Control+End");
    await sheet.cell("last").waitFor();
    const header = sheet.grid.locator(".row-header:visible", { hasText: new RegExp(`^${LAST_ROW}$`) });
    const box = (await header.boundingBox())!;
    const viewport = (await sheet.grid.locator(".viewport").boundingBox())!;
    expect(box.y + box.height).toBeLessThanOrEqual(viewport.y + viewport.height + 1);
    await sheet.page.mouse.click(box.x + box.width + 20, box.y + box.height / 2);
    await sheet.drawn();
    expect(await sheet.grid.locator(".name-box").inputValue()).toBe(`A${LAST_ROW}`);
    await sheet.page.keyboard.type("edited");
    await sheet.page.keyboard.press("Tab");
    await sheet.saved();
    await sheet.page.keyboard.press("Control+Home");
    await sheet.cell("first").waitFor();
    expect(await harness.stack.cellar("get", `A${LAST_ROW}`, "-s", spreadsheet, "--json")).toContain('"edited"');
  });
});
