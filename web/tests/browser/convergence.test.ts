import { expect, test } from "vitest";
import { SeededRandom } from "../data/random";
import { NO_FAULTS, OFFLINE, randomFaults } from "../fault-proxy";
import { LOST_REQUESTS } from "./guard";
import { describeInBrowser, openPlain } from "./harness";
import { expectEachOnceInOrder, readCells, readLog } from "./log";
import { SheetPage } from "./sheet-page";

const STEPS = 30;
const ROWS = 12;
const COLUMNS = 6;

/** Makes one edit as a person would. Returns the text, if the edit enters one. */
async function step(sheet: SheetPage, random: SeededRandom, text: string): Promise<string[]> {
  const row = 1 + random.below(ROWS);
  const column = String.fromCharCode(65 + random.below(COLUMNS));
  const draw = random.below(100);
  if (draw < 10) await sheet.choose(`${column}${row}`, "Insert row above");
  else if (draw < 18) await sheet.choose(`${column}${row}`, /^Delete row/);
  else if (draw < 24) await sheet.choose(`${column}${row}`, "Insert column before");
  else if (draw < 28) await sheet.choose(`${column}${row}`, /^Delete column/);
  else {
    await sheet.goTo(`${column}${row}`);
    // All at once: others may delete the cell at any time, and the grid then gives back the text.
    await sheet.page.keyboard.insertText(text);
    await sheet.page.keyboard.press("Enter");
    return [text];
  }
  return [];
}

/** The texts that the log enters, in order. */
function enteredTexts(log: Awaited<ReturnType<typeof readLog>>): string[] {
  return log.flatMap(({ op }) => {
    const { setCells } = op as { setCells?: { cells: { value?: unknown }[] } };
    return (setCells?.cells ?? []).map(({ value }) => String(value));
  });
}

/** The texts that a grid gave back, because others had deleted the cell while it was edited. */
function givenBack(messages: readonly string[]): string[] {
  return messages.flatMap((message) => /was deleted while you edited it\. Your text was: (\w+)$/.exec(message)?.[1] ?? []);
}

describeInBrowser("several browsers that edit at once", (harness) => {
  test.each([
    [2, 1],
    [3, 2],
  ])("%d browsers agree after requests were lost, repeated and late (seed %d)", { timeout: 180_000 }, async (browsers, seed) => {
    harness.guard.allow(LOST_REQUESTS);
    const spreadsheet = await harness.stack.create(`convergence ${seed}`);
    const proxy = await harness.proxy();
    const sheets = await Promise.all(
      Array.from({ length: browsers }, async () => new SheetPage(await openPlain(harness, await harness.newContext(), spreadsheet, proxy))),
    );
    const messages = await Promise.all(sheets.map((sheet) => sheet.keepMessages()));
    proxy.faults.plan = randomFaults(seed, 50);
    const entered = await Promise.all(
      sheets.map(async (sheet, browser) => {
        const random = new SeededRandom(seed * 100 + browser);
        const texts: string[] = [];
        for (let edit = 0; edit < STEPS; edit++) texts.push(...(await step(sheet, random, `${"xyz"[browser]}${edit}`)));
        return texts;
      }),
    );
    proxy.faults.plan = NO_FAULTS;
    for (const sheet of sheets) await sheet.saved();
    const log = await readLog(harness.stack, spreadsheet);
    expectEachOnceInOrder(log);
    const returned = (await Promise.all(messages.map((read) => read()))).flatMap(givenBack);
    expect(log.length, "edits in the log").toBe(browsers * STEPS - returned.length);
    for (const [browser, texts] of entered.entries()) {
      const stored = texts.filter((text) => !returned.includes(text));
      expect(enteredTexts(log).filter((text) => text.startsWith("xyz"[browser]!))).toEqual(stored);
    }
    const { none: _, ...faults } = proxy.faults.counts;
    const times = Object.values(faults).filter((count) => count > 0);
    expect(times.length, "kinds of faults").toBeGreaterThan(3);
    expect(times.reduce((sum, count) => sum + count), "faults").toBeGreaterThan(10);
    const position = `0.${log[log.length - 1]!.position}`;
    const expected = await readCells(harness.stack, spreadsheet);
    for (const sheet of sheets) {
      await sheet.reaches(position, 70_000);
      expect(await sheet.cells()).toEqual(expected);
    }
  });

  test("edits that two browsers make offline at the same places all arrive", async () => {
    harness.guard.allow(LOST_REQUESTS);
    const spreadsheet = await harness.stack.create("offline at once");
    await harness.stack.cellar("set", "-s", spreadsheet, "A1", "one", "A2", "two", "A3", "three");
    const proxy = await harness.proxy();
    const open = async () => new SheetPage(await openPlain(harness, await harness.newContext(), spreadsheet, proxy));
    const [first, second] = [await open(), await open()];
    await first.cell("three").waitFor();
    await second.cell("three").waitFor();
    proxy.faults.plan = OFFLINE;
    await first.choose("A2", "Insert row above");
    await first.enter("A2", "first");
    await second.choose("A2", "Insert row above");
    await second.enter("A2", "second");
    await second.enter("A4", "three, changed");
    await first.choose("A4", /^Delete row/);
    proxy.faults.plan = NO_FAULTS;
    await first.saved();
    await second.saved();
    const expected = await readCells(harness.stack, spreadsheet);
    expect(Object.values(expected).sort()).toEqual(["first", "one", "second", "two"]);
    const head = (await readLog(harness.stack, spreadsheet)).at(-1)!.position;
    for (const sheet of [first, second]) {
      await sheet.reaches(`0.${head}`);
      expect(await sheet.cells()).toEqual(expected);
    }
  });
});
