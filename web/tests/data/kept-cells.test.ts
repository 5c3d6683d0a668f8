import "fake-indexeddb/auto";
import { IDBFactory } from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Block, placeOf } from "../../src/data/block";
import { CellDatabase } from "../../src/data/cell-database";
import { openSheet, type OpenedSheet, type OpenOptions } from "../../src/data/index";
import { blockRecord, bytesOf, decodeState, mergedRecord, type StateRecord } from "../../src/data/kept-cells";
import { SeededRandom } from "./random";
import { FakeServer, until } from "./server";

const VIEW = { firstRow: 0, rowCount: 30, firstColumn: 0, columnCount: 10 };
const KEY = ["https://example.com", "alice", "s"];
const set = (row: number, value: unknown) => ({ setCells: { sheet: 0, cells: [{ row, column: 0, value }] } });
const opened: OpenedSheet[] = [];

function startServer(): FakeServer {
  const server = new FakeServer();
  server.cells = (query) => {
    const texts = server.column(Number(query.get("at")));
    return texts.flatMap((value, row) => (value === null ? [] : [{ row, column: 0, value }]));
  };
  return server;
}

async function open(server: FakeServer, options: Partial<OpenOptions> = {}): Promise<OpenedSheet> {
  const usual = { url: "https://example.com", spreadsheet: "s", getToken: () => "t", identity: "alice" };
  const sheet = await openSheet({ ...usual, fetch: server.fetch, hints: [], random: () => 0, ...options });
  opened.push(sheet);
  return sheet;
}

const down = (server: FakeServer) => (server.faults = Array.from({ length: 1_000 }, () => "down" as const));

async function storedRecord(key = KEY): Promise<StateRecord | undefined> {
  const database = new CellDatabase();
  const record = (await database.read(key)) as StateRecord | undefined;
  database.close();
  return record;
}

/** Opens, waits until the cells are stored, and closes. */
async function storeCells(server: FakeServer, options: Partial<OpenOptions> = {}): Promise<void> {
  const sheet = await open(server, options);
  sheet.request(VIEW);
  await until(() => sheet.isLoaded(0, 0) && sheet.status.position === `0.${server.head}`);
  for (let wait = 0; (await storedRecord())?.position !== server.head; wait += 1) {
    if (wait > 400) throw new Error("the cells are not stored");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  sheet.close();
}

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

afterEach(() => {
  for (const sheet of opened.splice(0)) sheet.close();
});

describe("stored cells", () => {
  it("are shown and can be edited without a network, and follow the log when it is back", async () => {
    const server = startServer();
    server.commit(set(1, "seen"));
    await storeCells(server);
    down(server);
    const sheet = await open(server);
    expect(sheet.cellAt(1, 0)?.text).toBe("seen");
    expect(sheet.status).toMatchObject({ role: "editor", position: "0.1", isOnline: false });
    sheet.setCells([{ row: 2, column: 0, input: "mine" }]);
    await until(() => sheet.cellAt(2, 0)?.text === "mine");
    server.commit({ insertRows: { sheet: 0, before: 0, count: 2 } });
    server.transforms = true;
    server.faults = [];
    sheet.refresh();
    await until(() => sheet.cellAt(3, 0)?.text === "seen" && sheet.status.pending === 0 && sheet.status.isOnline, "it catches up");
    sheet.request(VIEW);
    await until(() => sheet.isLoaded(0, 0));
    expect(sheet.cellAt(1, 0)).toBeUndefined();
  });

  it("are never shown as current: with a slow network, all cells are those of the reached position", { timeout: 60_000 }, async () => {
    const random = new SeededRandom(11);
    for (let round = 0; round < 8; round += 1) {
      globalThis.indexedDB = new IDBFactory();
      const server = startServer();
      for (let row = 0; row < 20; row += 1) server.commit(set(row, `first ${row}`));
      await storeCells(server);
      for (let edit = 0; edit < 1 + random.below(30); edit += 1) server.commit(randomEdit(random));
      const slow: typeof fetch = async (...request) => {
        await new Promise((resolve) => setTimeout(resolve, 40));
        return server.fetch(...request);
      };
      const sheet = await open(server, { fetch: slow });
      expect(sheet.status).toMatchObject({ isConnecting: true, isOnline: false, position: "0.20" });
      expect(sheet.cellAt(3, 0)?.text).toBe("first 3");
      await until(() => sheet.status.isOnline);
      expect(sheet.status.position).toBe(`0.${server.head}`);
      expect(sheet.status.isConnecting).toBeUndefined();
      const expected = server.column(server.head);
      for (let row = 0; row < 100; row += 1) {
        if (sheet.isLoaded(row, 0)) expect(sheet.cellAt(row, 0)?.text ?? null, `row ${row}`).toBe(expected[row]);
      }
      sheet.close();
    }
  });

  it("are not used if very many entries followed", async () => {
    const server = startServer();
    server.commit(set(1, "old"));
    await storeCells(server);
    for (let edit = 0; edit < 501; edit += 1) server.commit(set(1, `new ${edit}`));
    const slow: typeof fetch = async (...request) => {
      await new Promise((resolve) => setTimeout(resolve, 40));
      return server.fetch(...request);
    };
    const requests = server.requests.length;
    const sheet = await open(server, { fetch: slow });
    sheet.request(VIEW);
    await until(() => sheet.status.isOnline);
    await until(() => sheet.cellAt(1, 0)?.text === "new 500");
    expect(server.requests.slice(requests)).not.toContain("GET entries");
  });

  it("load what is missing only after the server has confirmed the state", async () => {
    const server = startServer();
    await storeCells(server);
    down(server);
    const sheet = await open(server);
    const asked = server.requests.filter((route) => route === "GET cells").length;
    sheet.request({ ...VIEW, firstRow: 600 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(server.requests.filter((route) => route === "GET cells")).toHaveLength(asked);
    expect(sheet.isLoaded(600, 0)).toBe(false);
    server.faults = [];
    sheet.refresh();
    await until(() => sheet.isLoaded(600, 0));
  });

  it.each([{ identity: "bob" }, { url: "https://other.example" }, { spreadsheet: "t" }])("are not shown with %j", async (options) => {
    const server = startServer();
    server.commit(set(1, "secret"));
    await storeCells(server);
    down(server);
    const sheet = await open(server, options);
    expect(sheet.cellAt(1, 0)).toBeUndefined();
    expect(sheet.sheets).toEqual([]);
  });

  it("are not stored for a person who cannot be named, and not if that is switched off", async () => {
    const server = startServer();
    const getToken = () => Promise.reject(new Error("signed out"));
    const { identity: _, ...unnamed } = { identity: "", url: "https://example.com", spreadsheet: "s" };
    for (const options of [{ ...unnamed, getToken, identity: "unknown" }, { keepsCells: false }]) {
      const sheet = await open(server, options);
      sheet.request(VIEW);
      await new Promise((resolve) => setTimeout(resolve, 1_300));
      sheet.close();
    }
    expect(await storedRecord()).toBeUndefined();
    expect(await storedRecord(["https://example.com", "unknown", "s"])).toBeUndefined();
  });

  it.each([
    [403, "forbidden"],
    [401, "invalid-link"],
    [404, "not-found"],
    [410, "deleted"],
  ])("are hidden and removed if the server answers %i %s", async (status, type) => {
    const server = startServer();
    server.commit(set(1, "secret"));
    await storeCells(server);
    down(server);
    const sheet = await open(server);
    expect(sheet.cellAt(1, 0)?.text).toBe("secret");
    server.faults = Array.from({ length: 1_000 }, () => ({ status, type }));
    sheet.refresh();
    await until(() => sheet.sheets.length === 0);
    expect(sheet.cellAt(1, 0)).toBeUndefined();
    expect(sheet.status.problem).toBe(`because of ${type}`);
    for (let wait = 0; (await storedRecord()) !== undefined; wait += 1) expect(wait).toBeLessThan(200);
    sheet.close();
    down(server);
    expect((await open(server)).sheets).toEqual([]);
  });

  it("stay after a token that is not valid any more", async () => {
    const server = startServer();
    server.commit(set(1, "seen"));
    await storeCells(server);
    server.faults = Array.from({ length: 1_000 }, () => ({ status: 401, type: "unauthorized" }));
    down(server);
    const sheet = await open(server);
    server.faults = Array.from({ length: 1_000 }, () => ({ status: 401, type: "unauthorized" }));
    sheet.refresh();
    await until(() => sheet.status.problem === "because of unauthorized");
    expect(sheet.cellAt(1, 0)?.text).toBe("seen");
  });

  it("are loaded again after a restore of the tables", async () => {
    const server = startServer();
    server.commit(set(1, "lost"));
    await storeCells(server);
    const restored = startServer();
    restored.incarnation = 1;
    down(restored);
    const sheet = await open(restored);
    expect(sheet.cellAt(1, 0)?.text).toBe("lost");
    restored.faults = [];
    sheet.refresh();
    sheet.request(VIEW);
    await until(() => sheet.status.position === "0.0" && sheet.isLoaded(1, 0));
    expect(sheet.cellAt(1, 0)).toBeUndefined();
  });

  it("need no database", async () => {
    globalThis.indexedDB = { open: () => { throw new Error("denied"); } } as unknown as IDBFactory;
    const server = startServer();
    server.commit(set(1, "seen"));
    const sheet = await open(server);
    sheet.request(VIEW);
    await until(() => sheet.cellAt(1, 0)?.text === "seen");
    await until(() => sheet.status.isMemoryOnly === true);
    sheet.setCells([{ row: 2, column: 0, input: "mine" }]);
    await until(() => server.operations().length === 2);
    await new Promise((resolve) => setTimeout(resolve, 1_300));
    expect(sheet.status.problem).toBeNull();
  });
});

function randomEdit(random: SeededRandom): Record<string, unknown> {
  const kind = random.below(4);
  if (kind === 0) return { insertRows: { sheet: 0, before: random.below(25), count: 1 + random.below(3) } };
  if (kind === 1) return { deleteRows: { sheet: 0, spans: [{ first: random.below(25), count: 1 + random.below(3) }] } };
  return set(random.below(25), `later ${random.below(100)}`);
}

function recordOf(key: string[], position: number, texts: string[], firstRow = 0): StateRecord {
  const block = new Block(placeOf(0, firstRow, 0));
  block.markAllLoaded();
  texts.forEach((text, row) => block.set(firstRow + row, 0, { value: text, text }));
  const sheets = [{ sheet: 0, name: "S", extent: { rows: 1_000, columns: 10 } }];
  const lists = { sheets, fullExtents: [0], names: [], blocks: [blockRecord(block)] };
  return { key, version: 1, position, incarnation: 0, endsSegment: false, role: "editor", nextSheet: 1, ...lists };
}

describe("the database of cells", () => {
  const key = (spreadsheet: string) => ["stack", "alice", spreadsheet];

  it("removes the least recently used spreadsheets above its limits", async () => {
    const bytes = bytesOf(recordOf(key("a"), 1, ["x"]).blocks[0]!);
    for (const database of [new CellDatabase(2 * bytes, 100), new CellDatabase(1e6, 2)]) {
      await database.write(recordOf(key("a"), 1, ["x"]), 10);
      await database.write(recordOf(key("b"), 1, ["x"]), 20);
      await database.write(recordOf(key("a"), 1, ["x"]), 30);
      await database.write(recordOf(key("c"), 1, ["x"]), 40);
      const found = await Promise.all(["a", "b", "c"].map((name) => database.read(key(name))));
      expect(found.map((record) => record !== undefined)).toEqual([true, false, true]);
      for (const name of ["a", "c"]) await database.forget(key(name));
      database.close();
    }
  });

  it("keeps the later state of two tabs, and the blocks of both at the same position", async () => {
    const [first, second] = [new CellDatabase(), new CellDatabase()];
    await first.write(recordOf(key("a"), 5, ["newer"]), 1);
    await second.write(recordOf(key("a"), 4, ["older"]), 2);
    await second.write(recordOf(key("a"), 5, ["below"], 128), 3);
    const state = decodeState(await first.read(key("a")));
    expect(state.blocks.map((block) => block.get(block.firstRow, 0)?.text)).toEqual(["below", "newer"]);
    await second.write(recordOf(key("a"), 6, ["newest"]), 4);
    expect(decodeState(await first.read(key("a"))).blocks.map((block) => block.get(0, 0)?.text)).toEqual(["newest"]);
    for (const database of [first, second]) database.close();
  });

  it("drops the blocks that do not fit when two tabs are merged", () => {
    const text = "x".repeat(300_000);
    const merged = mergedRecord(recordOf(key("a"), 1, [text]), recordOf(key("a"), 1, [text], 128));
    expect(merged?.blocks.map(({ rowBlock }) => rowBlock)).toEqual([0]);
  });

  it("does not read damaged records", () => {
    const good = recordOf(key("a"), 1, ["x"]);
    const block = good.blocks[0]!;
    expect(decodeState(good).position).toBe(1);
    const bytes = (text: string) => new TextEncoder().encode(text);
    const damaged: unknown[] = [
      null, 7, {}, { ...good, version: 2 }, { ...good, position: -1 }, { ...good, sheets: [{}] }, { ...good, role: "king" },
      ...[{ loaded: new Int32Array(3) }, { cells: bytes("[") }, { cells: bytes("[[4096,{\"value\":1,\"text\":\"\"}]]") }, { rowBlock: 2 ** 30 }]
        .map((change) => ({ ...good, blocks: [{ ...block, ...change }] })),
    ];
    for (const record of damaged) expect(() => decodeState(record), JSON.stringify(record)).toThrow();
  });
});
