import "fake-indexeddb/auto";
import { IDBFactory } from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openSheet, type OpenedSheet, type OpenOptions, type SheetChange } from "../../src/data/index";
import { FakeServer, until } from "./server";
import { SeededRandom } from "./random";

const opened: OpenedSheet[] = [];

async function open(server: FakeServer, more: Partial<OpenOptions> = {}): Promise<OpenedSheet> {
  const options = { url: "https://example.com", spreadsheet: "s", getToken: () => "t", identity: "alice" };
  const sheet = await openSheet({ ...options, fetch: server.fetch, hints: [], random: () => 0, ...more });
  opened.push(sheet);
  return sheet;
}

const VIEW = { firstRow: 0, rowCount: 30, firstColumn: 0, columnCount: 10 };
const set = (row: number, value: unknown) => ({ setCells: { sheet: 0, cells: [{ row, column: 0, value }] } });

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

afterEach(() => {
  for (const sheet of opened.splice(0)) sheet.close();
});

describe("an opened sheet", () => {
  it("shows what it loaded, and nothing else", async () => {
    const server = new FakeServer();
    server.cells = () => [{ row: 1, column: 1, value: 1250, format: "#,##0.00" }];
    const sheet = await open(server);
    expect(sheet.isLoaded(1, 1)).toBe(false);
    sheet.request(VIEW);
    await until(() => sheet.isLoaded(1, 1));
    expect(sheet.cellAt(1, 1)).toEqual({ row: 1, column: 1, value: 1250, text: "1,250.00", format: "#,##0.00" });
    expect(sheet.cellAt(0, 0)).toBeUndefined();
    expect(sheet.isLoaded(5_000, 0)).toBe(true);
    expect(sheet.status).toMatchObject({ position: "0.0", role: "editor", isOnline: true, problem: null });
  });

  it("reads the first cells, the role and the sheets together, and nothing twice", async () => {
    const server = new FakeServer();
    server.cells = () => [{ row: 1, column: 1, value: 7 }];
    const hint = vi.fn(() => () => undefined);
    const sheet = await open(server, { firstCell: { row: 1, column: 1 }, readDetails: async () => ({ role: "owner" }), hints: [{ start: hint }] });
    expect(server.requests.sort()).toEqual(["GET cells", "GET sheets"]);
    sheet.request(VIEW);
    await until(() => sheet.isLoaded(1, 1));
    expect(sheet.cellAt(1, 1)?.text).toBe("7");
    expect(sheet.status.role).toBe("owner");
    expect(server.requests).toHaveLength(2);
    expect(hint).toHaveBeenCalledOnce();
  });

  it("reads the first cells again if they were of another state or could not be read", async () => {
    for (const reply of [{ position: 7 }, { sheet: 1 }, { incarnation: 2 }, null]) {
      const server = new FakeServer();
      server.cells = () => [{ row: 0, column: 0, value: "right" }];
      const firstReply = { sheet: 0, position: 0, incarnation: 0, extent: { rows: 9, columns: 9 }, cells: [{ row: 0, column: 0, value: "wrong" }], ...reply };
      let isFirst = true;
      const answer: typeof fetch = async (url, init) => {
        if (!String(url).includes("/cells") || !isFirst) return server.fetch(url, init);
        isFirst = false;
        return new Response(JSON.stringify(reply === null ? {} : firstReply), { headers: { "content-type": "application/json" } });
      };
      const sheet = await open(server, { firstCell: { row: 0, column: 0 }, fetch: answer });
      sheet.request(VIEW);
      await until(() => sheet.isLoaded(0, 0));
      expect(sheet.cellAt(0, 0)?.text, JSON.stringify(reply)).toBe("right");
    }
  });

  it("shows an edit before it is sent, and once after", async () => {
    const server = new FakeServer();
    const sheet = await open(server);
    sheet.request(VIEW);
    await until(() => sheet.isLoaded(0, 0));
    sheet.insertRows(0, 1);
    sheet.setCells([{ row: 0, column: 0, input: "2.50" }]);
    await until(() => sheet.cellAt(1, 0)?.text === "2.50", "the edit is below the inserted row");
    await until(() => sheet.status.pending === 0 && sheet.status.position === "0.2");
    expect(sheet.cellAt(1, 0)).toEqual({ row: 1, column: 0, value: 2.5, text: "2.50", format: "0.00" });
    expect(server.operations()).toHaveLength(2);
  });

  it("follows the edits of others, with its own pending ones on top", async () => {
    const server = new FakeServer();
    const sheet = await open(server);
    sheet.request(VIEW);
    await until(() => sheet.isLoaded(0, 0));
    server.commit({ insertRows: { sheet: 0, before: 0, count: 2 } });
    server.commit(set(0, "theirs"));
    server.faults = [];
    sheet.refresh();
    await until(() => sheet.cellAt(0, 0)?.text === "theirs");
    expect(sheet.extent.rows).toBe(1_002);
  });

  it("does not let a viewer edit", async () => {
    const server = new FakeServer();
    server.role = "viewer";
    const sheet = await open(server);
    sheet.setCells([{ row: 0, column: 0, input: "1" }]);
    expect(sheet.status.problem).toMatch(/but not change/);
    expect(sheet.status.pending).toBe(0);
  });

  it("says that a spreadsheet is archived, and lets it be edited again when it is not", async () => {
    const server = new FakeServer();
    server.status = "archived";
    const sheet = await open(server);
    expect(sheet.status.readOnlyReason).toBe("The spreadsheet is archived");
    sheet.setCells([{ row: 0, column: 0, input: "1" }]);
    expect(sheet.status).toMatchObject({ problem: "The spreadsheet is archived", pending: 0 });
    server.status = "active";
    sheet.refresh();
    await until(() => sheet.status.readOnlyReason === undefined);
    sheet.setCells([{ row: 0, column: 0, input: "1" }]);
    await until(() => sheet.status.position === "0.1");
  });

  it("sends waiting edits at once when it is refreshed", async () => {
    const server = new FakeServer();
    const sheet = await open(server);
    await until(() => server.requests.includes("GET head"));
    server.faults = ["down"];
    sheet.setCells([{ row: 0, column: 0, input: "1" }]);
    await until(() => server.requests.filter((route) => route === "POST entries").length === 1);
    const startMs = Date.now();
    sheet.refresh();
    await until(() => server.head === 1);
    // Without the refresh, it would be sent after half a second.
    expect(Date.now() - startMs).toBeLessThan(300);
  });

  it("undoes an own edit by its position", async () => {
    const server = new FakeServer();
    const sheet = await open(server);
    expect(await sheet.undo()).toBe("There is nothing to undo");
    sheet.setCells([{ row: 0, column: 0, input: "1" }]);
    await until(() => sheet.status.position === "0.1");
    expect(await sheet.undo()).toBe("Undid an edit");
    expect(server.operations()[1]).toEqual({ undo: { position: 1 } });
    await until(() => sheet.status.position === "0.2");
    expect(await sheet.redo()).toBe("Redid an edit");
    expect(server.operations()[2]).toEqual({ undo: { position: 2 } });
  });

  it("survives a restore of the tables, and loses no edit silently", async () => {
    const server = new FakeServer();
    const sheet = await open(server);
    // The reply of the append must be lost, not that of the first poll.
    await until(() => server.requests.includes("GET head"));
    server.faults = ["lost"];
    sheet.setCells([{ row: 0, column: 0, input: "1" }]);
    await until(() => server.head === 1);
    server.incarnation = 1;
    sheet.refresh();
    await until(() => sheet.status.problem?.includes("download") === true);
    expect((await sheet.unsentEdits()).setAside).toHaveLength(1);
  });

  it("lists the unsent edits of a closed tab of the same user", async () => {
    const server = new FakeServer();
    let isOffline = false;
    const fetcher: typeof fetch = async (url, init) => {
      if (isOffline) throw new TypeError("offline");
      return server.fetch(url, init);
    };
    const [first, others] = [await open(server, { fetch: fetcher }), await open(server, { identity: "bob" })];
    isOffline = true;
    first.setCells([{ row: 0, column: 0, input: "1" }]);
    await until(() => !first.status.isOnline);
    first.close();
    const second = await open(server, { fetch: fetcher, keepsCells: false });
    expect((await second.unsentEdits()).pending.map(({ op }) => op)).toEqual([set(0, 1)]);
    expect((await others.unsentEdits()).pending).toEqual([]);
  });

  it("reports a server that cannot be reached, and opens later", async () => {
    const server = new FakeServer();
    // The role and the sheets are read together, each four times.
    server.faults = Array.from({ length: 8 }, () => "down" as const);
    const sheet = await open(server);
    expect(sheet.sheets).toEqual([]);
    await until(() => sheet.sheets.length === 1);
    expect(sheet.status.isOnline).toBe(true);
  });
});

describe("hostile replies", () => {
  const bodies: unknown[] = [
    null, 7, "x", [], {}, { entries: [null] }, { head: -1, incarnation: 0 }, { head: 1e300, incarnation: 0 },
    { head: 99, incarnation: 0, entries: [{ position: 99, kind: "edits", mutations: [] }] },
    { head: 1, incarnation: 0, entries: [{ position: 1, kind: "edits", mutations: [{ id: 1, base: 0, op: null }] }] },
    { entries: [], results: [{ id: 7, status: "appended", position: 1 }], head: 3, incarnation: 0 },
    { cells: [{ row: 2 ** 40, column: 0, value: 1 }], extent: { rows: 1, columns: 1 }, position: 0, incarnation: 0, sheet: 0 },
    { cells: [], extent: { rows: 1, columns: 1 }, position: 77, incarnation: 0, sheet: 5 },
    { sheets: [], position: 0, incarnation: 0 },
  ];

  it("never escape as exceptions, and never change what is made", async () => {
    for (let seed = 0; seed < 10; seed += 1) {
      const random = new SeededRandom(seed);
      const server = new FakeServer();
      const sheet = await open(server);
      const changes: SheetChange[] = [];
      sheet.subscribe((change) => changes.push(change));
      server.faults = Array.from({ length: 12 }, () => ({ body: bodies[random.below(bodies.length)] }));
      sheet.request(VIEW);
      sheet.setCells([{ row: 0, column: 0, input: `edit ${seed}` }]);
      server.commit(set(3, "theirs"));
      for (let step = 0; step < 12; step += 1) {
        sheet.refresh();
        await new Promise((resolve) => setTimeout(resolve, 3));
      }
      server.faults = [];
      sheet.refresh();
      const made = () => server.operations().filter((op) => JSON.stringify(op).includes(`edit ${seed}`)).length;
      await until(() => made() === 1, `the edit of seed ${seed}`);
      expect(made()).toBe(1);
      sheet.close();
    }
  }, 30_000);
});
