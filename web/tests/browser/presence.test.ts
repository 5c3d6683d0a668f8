import { expect, test } from "vitest";
import { describeInBrowser, openPage, type Harness } from "./harness";
import { SheetPage } from "./sheet-page";

async function openAs(harness: Harness, subject: string, spreadsheet: string): Promise<SheetPage> {
  const token = await harness.tokenOf(subject);
  const sheet = new SheetPage(await openPage(harness, await harness.newContext(), spreadsheet, { token }));
  await sheet.cell("first").waitFor();
  return sheet;
}

/** Returns the address of the cell at the end of the only selection of others, or what is shown instead. */
async function seen(sheet: SheetPage): Promise<string> {
  await sheet.drawn();
  return sheet.grid.evaluate((element) => {
    const root = element.shadowRoot!;
    const [other, ...more] = [...root.querySelectorAll(".other")].filter((one) => one.checkVisibility());
    if (!other) return "none";
    if (more.length > 0) return `${more.length + 1} selections`;
    const { right, bottom } = other.getBoundingClientRect();
    const at = (selector: string, isAt: (box: DOMRect) => boolean) =>
      [...root.querySelectorAll(selector)].find((header) => header.checkVisibility() && isAt(header.getBoundingClientRect()))?.textContent ?? "?";
    return at(".column", (box) => Math.abs(box.right - right) < 3) + at(".row-header", (box) => Math.abs(box.bottom - bottom) < 3);
  });
}

const opacityOf = (sheet: SheetPage, name: string) =>
  sheet.grid.locator(".other-name", { hasText: name }).evaluate((label) => getComputedStyle(label).opacity);

const colorsOf = (sheet: SheetPage, labels: string) =>
  sheet.grid.locator(labels).evaluateAll((all) => all.map((label) => getComputedStyle(label).backgroundColor));

describeInBrowser("two people in a spreadsheet", (harness) => {
  test("see what the other one selects, until the tab is closed", async () => {
    const { stack } = harness;
    const spreadsheet = await stack.create("presence");
    await stack.cellar("set", "A1", "first", "-s", spreadsheet);
    for (const subject of ["ada", "grace"]) await stack.cellar("share", subject, "--role", "editor", "-s", spreadsheet);
    const ada = await openAs(harness, "ada", spreadsheet);
    const grace = await openAs(harness, "grace", spreadsheet);
    await expect.poll(() => seen(grace), { timeout: 10_000 }).toBe("A1");
    // Ada counts as alone until Grace edits.
    await grace.enter("D2", "hello");
    await expect.poll(() => seen(ada), { timeout: 10_000 }).toBe("D3");
    await ada.goTo("C6");
    await expect.poll(() => seen(grace), { timeout: 10_000 }).toBe("C6");
    expect(await opacityOf(grace, "ada")).toBe("1");
    expect(await grace.grid.locator(".people").textContent()).toBe("ada is here");
    // The mark of an edit has the color of the cursor.
    await ada.enter("C6", "marked");
    await grace.grid.locator(".mark-label", { hasText: "ada" }).waitFor();
    expect(await colorsOf(grace, ".mark-label:not([hidden])")).toEqual(await colorsOf(grace, ".other-name"));
    await ada.goTo("C6");
    await expect.poll(() => seen(grace), { timeout: 10_000 }).toBe("C6");
    await stack.cellar("rows", "insert", "2", "-s", spreadsheet);
    await expect.poll(() => seen(grace), { timeout: 10_000 }).toBe("C7");
    await ada.page.close();
    await expect.poll(() => seen(grace), { timeout: 10_000 }).toBe("none");
    expect(await grace.grid.locator(".people").isVisible()).toBe(false);
  });

  test("do not see who looks at an earlier state", async () => {
    const { stack } = harness;
    const spreadsheet = await stack.create("earlier");
    await stack.cellar("set", "A1", "first", "-s", spreadsheet);
    for (const subject of ["ada", "grace"]) await stack.cellar("share", subject, "--role", "editor", "-s", spreadsheet);
    const ada = await openAs(harness, "ada", spreadsheet);
    const grace = await openAs(harness, "grace", spreadsheet);
    await expect.poll(() => seen(grace), { timeout: 10_000 }).toBe("A1");
    await ada.page.evaluate(() => (location.hash += "?at=0.1"));
    await expect.poll(() => seen(grace), { timeout: 10_000 }).toBe("none");
    await ada.goTo("B5");
    await ada.page.goBack();
    await ada.grid.locator(".status", { hasText: "View only" }).waitFor({ state: "detached" });
    await ada.enter("B7", "back");
    await expect.poll(() => seen(grace), { timeout: 15_000 }).toBe("B8");
  });
});
