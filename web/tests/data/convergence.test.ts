import "fake-indexeddb/auto";
import { IDBFactory } from "fake-indexeddb";
import { expect, it } from "vitest";
import { openSheet, type OpenedSheet } from "../../src/data/index";
import { IndexedDbStore } from "../../src/data/outbox-store";
import { SeededRandom } from "./random";
import { FakeServer, until } from "./server";

const EDITS = 40;
const ROWS = 6;
const SHOWN = 100;

function randomFault(random: SeededRandom) {
  const kind = random.below(8);
  if (kind === 0) return "lost" as const;
  if (kind === 1) return "down" as const;
  if (kind === 2) return { status: 503, type: "unavailable" };
  return null;
}

/** Makes requests fail at random, before or after they had their effect. */
function faulty(server: FakeServer, random: SeededRandom, isFaulty: () => boolean): typeof fetch {
  return async (url, init) => {
    await new Promise((resolve) => setTimeout(resolve, random.below(3)));
    const fault = isFaulty() ? randomFault(random) : null;
    if (fault !== null) server.faults.push(fault);
    return server.fetch(url, init);
  };
}

function randomEdit(tab: OpenedSheet, random: SeededRandom, text: string, moves: boolean): void {
  const [row, count, kind] = [random.below(ROWS), 1 + random.below(2), random.below(moves ? 4 : 1)];
  if (kind === 2) tab.insertRows(row, count);
  else if (kind === 3) tab.deleteRows(row, count);
  else tab.setCells([{ row, column: 0, input: text }]);
}

it.each([false, true])("three tabs converge, and each edit is made once and in order; rows move: %s", async (moves) => {
  for (let seed = 0; seed < 4; seed += 1) {
    globalThis.indexedDB = new IDBFactory();
    const random = new SeededRandom(seed);
    const server = new FakeServer();
    server.transforms = moves;
    server.cells = (query) =>
      server.column(Number(query.get("at"))).flatMap((value, row) => (value === null ? [] : [{ row, column: 0, value }]));
    let isFaulty = false;
    const open = () =>
      openSheet({
        url: "https://example.com",
        spreadsheet: "s",
        getToken: () => "t",
        identity: "alice",
        hints: [],
        store: new IndexedDbStore("shared"),
        random: () => 0,
        fetch: faulty(server, random, () => isFaulty),
      });
    const tabs: OpenedSheet[] = await Promise.all([open(), open(), open()]);
    for (const tab of tabs) tab.request({ firstRow: 0, rowCount: SHOWN, firstColumn: 0, columnCount: 1 });
    await until(() => tabs.every((tab) => tab.isLoaded(0, 0)));
    isFaulty = true;
    for (let edit = 0; edit < EDITS; edit += 1) {
      const index = random.below(tabs.length);
      const tab = tabs[index];
      if (tab !== undefined) randomEdit(tab, random, `t${index} e${edit}`, moves);
      if (random.below(3) === 0) tabs[random.below(tabs.length)]?.refresh();
      await new Promise((resolve) => setTimeout(resolve, random.below(4)));
    }
    isFaulty = false;
    const isSettled = (tab: OpenedSheet) => tab.status.pending === 0 && tab.status.position === `0.${server.head}`;
    for (let round = 0; round < 400 && !tabs.every(isSettled); round += 1) {
      for (const tab of tabs) tab.refresh();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(tabs.map((tab) => tab.status.pending), `seed ${seed}`).toEqual([0, 0, 0]);
    const expected = server.column(server.head).slice(0, SHOWN);
    await until(() => tabs.every((tab) => expected.every((_, row) => tab.isLoaded(row, 0))), "all is loaded");
    for (const tab of tabs) {
      const texts = expected.map((_, row) => tab.cellAt(row, 0)?.text ?? null);
      expect(texts, `seed ${seed}`).toEqual(expected);
    }
    // With moves, a cell may be set in a row whose delete is being stored: nothing is sent then.
    if (!moves) expect(server.operations()).toHaveLength(EDITS);
    const made = server.operations().map((op) => JSON.stringify(op).match(/t\d e\d+/)?.[0]).filter((name) => name !== undefined);
    expect(new Set(made).size).toBe(made.length);
    for (const index of [0, 1, 2]) {
      const own = made.filter((name) => name.startsWith(`t${index}`)).map((name) => Number(name.split("e")[1]));
      expect(own).toEqual([...own].sort((left, right) => left - right));
    }
    for (const tab of tabs) tab.close();
  }
}, 60_000);
