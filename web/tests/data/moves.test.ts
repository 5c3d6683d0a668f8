import "fake-indexeddb/auto";
import { IDBFactory } from "fake-indexeddb";
import { describe, expect, it } from "vitest";
import { AxisMap } from "../../src/data/axis-map";
import { openSheet, type LayoutShift, type OpenedSheet } from "../../src/data/index";
import { laterParts } from "../../src/data/later";
import { MAX_ROWS } from "../../src/data/limits";
import { Moves } from "../../src/data/moves";
import { View } from "../../src/data/view";
import { shiftCell } from "../../src/grid/shift";
import { SeededRandom } from "./random";
import { FakeServer, until } from "./server";

const VIEW = { firstRow: 0, rowCount: 60, firstColumn: 0, columnCount: 10 };
const ROWS = 60;

interface World {
  server: FakeServer;
  sheet: OpenedSheet;
  shifts: LayoutShift[];
  /** Whether edits are on their way for ever. */
  isHeld: boolean;
}

async function start(): Promise<World> {
  globalThis.indexedDB = new IDBFactory();
  await laterParts();
  const server = new FakeServer();
  server.transforms = true;
  server.cells = (query) => server.column(Number(query.get("at"))).flatMap((value, row) => (value === null ? [] : [{ row, column: 0, value }]));
  const cells = Array.from({ length: ROWS }, (_, row) => ({ row, column: 0, value: `row ${row}` }));
  server.commit({ setCells: { sheet: 0, cells } });
  const world = { server, shifts: [] as LayoutShift[], isHeld: false };
  const fetch: typeof globalThis.fetch = async (url, init) => {
    if (world.isHeld && init?.method === "POST") return new Promise(() => undefined);
    return server.fetch(url as string, init);
  };
  const options = { url: "https://example.com", spreadsheet: "s", getToken: () => "t", identity: "alice", keepsCells: false };
  const sheet = await openSheet({ ...options, fetch, hints: [], random: () => 0 });
  sheet.request(VIEW);
  await until(() => sheet.isLoaded(0, 0));
  sheet.subscribe((change) => {
    if (change.kind === "layout" && change.axis !== undefined && change.at !== undefined && change.count !== undefined) {
      world.shifts.push({ axis: change.axis, at: change.at, count: change.count });
    }
  });
  return Object.assign(world, { sheet });
}

async function catchUp({ server, sheet }: World): Promise<void> {
  sheet.refresh();
  await until(() => sheet.status.position === `0.${server.head}`, "it catches up");
}

describe("rows and columns that others insert or delete", () => {
  it.each([
    [{ insertRows: { sheet: 0, before: 3, count: 2 } }, [{ axis: "rows", at: 3, count: 2 }]],
    [{ deleteRows: { sheet: 0, spans: [{ first: 3, count: 2 }] } }, [{ axis: "rows", at: 3, count: -2 }]],
    [{ insertColumns: { sheet: 0, before: 1, count: 1 } }, [{ axis: "columns", at: 1, count: 1 }]],
    [
      { deleteColumns: { sheet: 0, spans: [{ first: 0, count: 1 }, { first: 4, count: 2 }] } },
      [{ axis: "columns", at: 0, count: -1 }, { axis: "columns", at: 3, count: -2 }],
    ],
    [{ insertRows: { sheet: 7, before: 3, count: 2 } }, []],
    [{ setCells: { sheet: 0, cells: [{ row: 1, column: 0, value: 1 }] } }, []],
  ])("are reported after %j", async (operation, expected) => {
    const world = await start();
    world.server.commit(operation);
    await catchUp(world);
    expect(world.shifts).toEqual(expected);
    world.sheet.close();
  });

  it("are not reported for own edits that the server confirms where they were shown", async () => {
    const world = await start();
    world.sheet.insertRows(2, 3);
    await until(() => world.sheet.status.position === "0.2" && world.sheet.status.pending === 0);
    expect(world.shifts).toEqual([]);
    world.sheet.close();
  });

  it("are reported when an own edit that was not sent is removed", async () => {
    const world = await start();
    world.isHeld = true;
    world.sheet.setCells([{ row: 0, column: 0, input: "sent" }]);
    await until(() => world.sheet.status.pending === 1 && world.sheet.cellAt(0, 0)?.text === "sent");
    world.sheet.insertRows(2, 3);
    expect(await world.sheet.undo()).toBe("Removed an edit that was not sent yet");
    expect(world.shifts).toEqual([{ axis: "rows", at: 2, count: -3 }]);
    world.sheet.close();
  });

  it("lead each row to where its cells are then, also with own pending edits", { timeout: 60_000 }, async () => {
    const random = new SeededRandom(5);
    for (let round = 0; round < 30; round += 1) {
      const world = await start();
      const { server, sheet, shifts } = world;
      world.isHeld = true;
      for (let edit = 0; edit < random.below(3); edit += 1) {
        if (random.isTrue()) sheet.insertRows(random.below(40), 1 + random.below(3));
        else sheet.deleteRows(random.below(40), 1 + random.below(3));
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
      const before = Array.from({ length: ROWS + 10 }, (_, row) => sheet.cellAt(row, 0)?.text);
      shifts.length = 0;
      for (let edit = 0; edit < 1 + random.below(4); edit += 1) commitWithOtherId(server, randomMove(random));
      await catchUp(world);
      before.forEach((text, row) => {
        const cell = text === undefined ? null : shifts.reduce((found: { row: number; column: number } | null, shift) => found && shiftCell(found, shift), { row, column: 0 });
        if (cell !== null && cell.row < 100) expect(sheet.cellAt(cell.row, 0)?.text, JSON.stringify({ row, shifts })).toBe(text);
      });
      sheet.close();
    }
  });

  it("are not listed one by one if they are very many", () => {
    const view = new View();
    const moves = new Moves(view);
    const spans = Array.from({ length: 100 }, (_, index) => ({ first: 10 * index, count: 1 }));
    moves.begin(0);
    moves.add({ sheet: 0, axis: "rows", map: AxisMap.delete(MAX_ROWS, spans) });
    expect(moves.take()).toEqual([{ sheet: 0, shifts: [] }]);
    moves.begin(0);
    moves.add({ sheet: 0, axis: "rows", map: AxisMap.delete(MAX_ROWS, spans.slice(0, 3)) });
    expect(moves.take()[0]?.shifts).toHaveLength(3);
  });
});

/** Commits with an id that no pending edit has, so that it cannot be taken for one of them. */
function commitWithOtherId(server: FakeServer, operation: Record<string, unknown>): void {
  server.commit(operation);
  (server.entries.at(-1) as { mutations: { id: number }[] }).mutations[0]!.id = 1_000;
}

function randomMove(random: SeededRandom): Record<string, unknown> {
  const first = random.below(40);
  const count = 1 + random.below(4);
  return random.isTrue() ? { insertRows: { sheet: 0, before: first, count } } : { deleteRows: { sheet: 0, spans: [{ first, count }] } };
}
