import "fake-indexeddb/auto";
import { afterEach, describe, expect, test } from "vitest";
import { openSheet, type OpenedSheet, type OpenOptions } from "../../src/data/index";
import { decodePresence } from "../../src/data/presence-reply";
import { FakeServer, until } from "./server";

const CELL = { sheet: 0, firstRow: 3, rowCount: 1, firstColumn: 1, columnCount: 1 };
const opened: OpenedSheet[] = [];

/** A stack of a version that knows no presence. */
async function open(server: FakeServer, options: Partial<OpenOptions> = {}): Promise<OpenedSheet> {
  const sheet = await openSheet({ url: "https://example.com", spreadsheet: "id", identity: "me", getToken: () => "t", fetch: server.fetch, ...options });
  opened.push(sheet);
  return sheet;
}

const presenceRequests = (server: FakeServer) => server.requests.filter((route) => route.endsWith("presence"));
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("presence", () => {
  afterEach(() => {
    for (const sheet of opened.splice(0)) sheet.close();
  });

  test("is not asked for again on a stack that does not know it", async () => {
    const server = new FakeServer();
    const sheet = await open(server);
    await pause(20);
    expect(presenceRequests(server)).toEqual([]);
    sheet.announce?.(CELL);
    await until(() => presenceRequests(server).length > 0, "an announcement");
    await pause(20);
    sheet.announce?.({ ...CELL, firstRow: 9 });
    server.commit({ insertRows: { sheet: 0, before: 0, count: 1 } });
    sheet.refresh();
    await until(() => sheet.status.position === "0.1", "the entry is read");
    sheet.close();
    await pause(20);
    expect(presenceRequests(server)).toEqual(["PUT presence"]);
    expect(sheet.others).toEqual([]);
  });

  test("of an earlier state is not announced", async () => {
    const server = new FakeServer();
    const sheet = await open(server, { at: 0 });
    expect(sheet.announce).toBeUndefined();
    expect(sheet.others).toBeUndefined();
  });

  test("is not announced while the server cannot be reached, or for a sheet that it does not have", async () => {
    const server = new FakeServer();
    server.faults = Array.from({ length: 50 }, () => "down" as const);
    const sheet = await open(server);
    sheet.announce?.(CELL);
    await pause(50);
    expect(presenceRequests(server)).toEqual([]);
    server.faults = [];
    sheet.announce?.({ ...CELL, sheet: 7 });
    sheet.refresh();
    await until(() => sheet.status.isOnline, "the sheet is online");
    await pause(20);
    expect(presenceRequests(server)).toEqual([]);
    sheet.announce?.(CELL);
    await until(() => presenceRequests(server).length === 1, "an announcement");
  });

  test("that cannot be read is left out", () => {
    const selection = { sheet: 1, first_row: 2, last_row: 4, first_column: 0, last_column: 0, at: 7 };
    const other = { client_key: "00000000000000aa", author: "Ada", selection, seen_ms_ago: 5 };
    const wrong = [
      { ...other, author: 7 },
      { ...other, selection: { ...selection, last_row: 2 ** 30 } },
      { ...other, selection: { ...selection, first_row: 5 } },
      { ...other, selection: { ...selection, at: 2 ** 60 } },
      null,
    ];
    expect(decodePresence({ others: [...wrong, other] })).toEqual([
      { client: other.client_key, author: "Ada", range: { sheet: 1, firstRow: 2, rowCount: 3, firstColumn: 0, columnCount: 1 }, at: 7, seenMsAgo: 5 },
    ]);
    expect(() => decodePresence({})).toThrow("the others is not a list");
  });
});
