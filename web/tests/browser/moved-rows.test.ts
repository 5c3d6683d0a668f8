import { expect, test } from "vitest";
import { describeInBrowser, openPage } from "./harness";
import { SheetPage } from "./sheet-page";

const AIRPORTS = new URL("../../../tests/data/airports.csv", import.meta.url).pathname;

describeInBrowser("rows that others insert and delete", (harness) => {
  test("leave the first visible row and the selected cell where they are", async () => {
    const created = JSON.parse(await harness.stack.cellar("import", AIRPORTS, "--json")) as { spreadsheet?: string; id?: string };
    const spreadsheet = created.id ?? created.spreadsheet ?? "";
    const sheet = new SheetPage(await openPage(harness, await harness.newContext(), spreadsheet));
    await sheet.goTo("A300");
    await sheet.drawn();
    const seen = await firstVisible(sheet);
    const selected = await sheet.grid.locator(".formula").inputValue();
    const edits = [[["insert", "10", "--count", "7"], 7], [["delete", "3:6"], -4], [["delete", "5"], -1]] as const;
    for (const [command, shift] of edits) {
      const { number } = await firstVisible(sheet);
      await harness.stack.cellar("rows", ...command, "-s", spreadsheet);
      await expect.poll(async () => (await firstVisible(sheet)).number, { timeout: 10_000 }).toBe(number + shift);
    }
    const after = await firstVisible(sheet);
    expect(after.texts).toEqual(seen.texts);
    expect(after.number).toBe(seen.number + 2);
    expect(await sheet.grid.locator(".name-box").inputValue()).toBe("A302");
    expect(await sheet.grid.locator(".formula").inputValue()).toBe(selected);
  });
});

/** Returns the number and the cells of the first row that is visible as a whole. */
async function firstVisible(sheet: SheetPage): Promise<{ number: number; texts: string[] }> {
  await sheet.drawn();
  return sheet.grid.evaluate((element) => {
    const grid = element as HTMLElementTagNameMap["cellar-grid"];
    const root = grid.shadowRoot ?? grid;
    const corner = root.querySelector(".corner")?.getBoundingClientRect().bottom ?? 0;
    const headers = [...root.querySelectorAll<HTMLElement>(".row-header")]
      .filter((header) => header.checkVisibility() && header.getBoundingClientRect().top >= corner - 1)
      .sort((left, right) => left.getBoundingClientRect().top - right.getBoundingClientRect().top);
    const number = Number((headers[0]?.textContent ?? "").replace(/\D/g, ""));
    const texts = [0, 1, 2].map((column) => grid.source!.cellAt(number - 1, column)?.text ?? "");
    return { number, texts };
  });
}
