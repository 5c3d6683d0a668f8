import "fake-indexeddb/auto";
import { IDBFactory } from "fake-indexeddb";
import { beforeEach, describe, expect, it } from "vitest";
import { Api } from "../../src/data/api";
import { Outbox } from "../../src/data/outbox";
import { IndexedDbStore, type OutboxStore } from "../../src/data/outbox-store";
import { recoverAbandoned } from "../../src/data/recovery";
import { FakeServer, until } from "./server";

const SCOPE = { stack: "https://example.com", spreadsheet: "s", identity: "alice" };

function apiOf(server: FakeServer): Api {
  return new Api({ url: SCOPE.stack, spreadsheet: "s", getToken: () => "t", fetch: server.fetch, random: () => 0 });
}

function outboxOf(server: FakeServer, store: OutboxStore = new IndexedDbStore("outbox")) {
  const log: string[] = [];
  const events = {
    answered: () => void log.push("answered"),
    startOver: () => void log.push("startOver"),
    changed: () => undefined,
    clientChanged: () => undefined,
  };
  const outbox = new Outbox({ api: apiOf(server), store, scope: SCOPE, events, random: () => 0, now: () => Date.now() });
  return { outbox, store, log };
}

const edit = (value: number) => ({ setCells: { sheet: 0, cells: [{ row: value, column: 0, value }] } });

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

describe("the outbox", () => {
  it("stores an edit, then shows it, then sends it", async () => {
    const server = new FakeServer();
    const { outbox, store } = outboxOf(server);
    let storedWhenShown: unknown[] = [];
    let requestsWhenShown = -1;
    await outbox.add(edit(1), 0, 0, () => {
      requestsWhenShown = server.requests.length;
      void store.editsOf(outbox.client).then((edits) => (storedWhenShown = edits));
    });
    expect(requestsWhenShown).toBe(0);
    await until(() => outbox.queued.length === 0);
    expect(storedWhenShown).toHaveLength(1);
    await until(() => server.head === 1);
    outbox.close();
  });

  it("makes each edit once and in order, if requests and replies are lost", async () => {
    const server = new FakeServer();
    const { outbox } = outboxOf(server);
    server.faults = ["lost", "down", { body: { results: [] } }, { body: 7 }, { status: 503, type: "unavailable" }];
    for (let value = 1; value <= 5; value += 1) void outbox.add(edit(value), 0, 0, () => undefined);
    await until(() => server.requests.length > 0);
    while (outbox.queued.length > 0 || server.head < 5) {
      await outbox.flush();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(server.operations()).toEqual([1, 2, 3, 4, 5].map(edit));
    outbox.close();
  });

  it("leaves edits that another tab sends, each once", async () => {
    const server = new FakeServer();
    const { outbox, store } = outboxOf(server);
    server.faults = ["down", "lost"];
    await outbox.add(edit(1), 0, 0, () => undefined);
    await until(() => outbox.isUnreachable);
    await outbox.flush();
    outbox.close();
    const context = { api: apiOf(server), store, scope: SCOPE, locks: undefined, adopt: async () => undefined };
    expect(await recoverAbandoned({ ...context, now: () => Date.now() }, "other")).toBe(0);
    const later = () => Date.now() + 1e9;
    expect(await recoverAbandoned({ ...context, now: later, scope: { ...SCOPE, identity: "bob" } }, "other")).toBe(0);
    expect(await recoverAbandoned({ ...context, now: later }, "other")).toBe(1);
    expect(await recoverAbandoned({ ...context, now: later }, "other")).toBe(0);
    expect(server.operations()).toEqual([edit(1)]);
    expect(await store.clients()).toEqual([]);
  });

  it("keeps edits in memory while the storage fails, and stores them later", async () => {
    const server = new FakeServer();
    server.faults = Array.from({ length: 9 }, () => "down" as const);
    const store = new IndexedDbStore("outbox");
    const factory = globalThis.indexedDB;
    globalThis.indexedDB = { open: () => { throw new Error("disk full"); } } as unknown as IDBFactory;
    const { outbox } = outboxOf(server, store);
    await outbox.add(edit(1), 0, 0, () => undefined);
    expect(outbox.isMemoryOnly).toBe(true);
    expect(outbox.queued).toHaveLength(1);
    globalThis.indexedDB = factory;
    await outbox.add(edit(2), 0, 0, () => undefined);
    expect(outbox.isMemoryOnly).toBe(false);
    expect((await store.editsOf(outbox.client)).map(({ id }) => id)).toEqual([1, 2]);
    outbox.close();
  });

  it("reopens a database that the browser closed", async () => {
    const store = new IndexedDbStore("outbox");
    const client = { client: "c", ...SCOPE, attemptedId: 0, ackedId: 0, usedMs: 0 };
    await store.putClient(client);
    store.close();
    expect(await store.clients()).toEqual([client]);
  });

  it("sets aside what may have been made, and makes the rest again as a new client", async () => {
    const server = new FakeServer();
    const { outbox, store, log } = outboxOf(server);
    server.faults = ["lost"];
    await outbox.add(edit(1), 0, 0, () => undefined);
    await until(() => outbox.isUnreachable);
    server.incarnation = 1;
    await outbox.add(edit(2), 0, 0, () => undefined);
    await until(() => log.includes("startOver"));
    await outbox.restart(server.head, 1);
    await until(() => server.head === 2);
    expect(server.operations()).toEqual([edit(1), edit(2)]);
    expect((await store.setAsideEdits()).map(({ id }) => id)).toEqual([1]);
    outbox.close();
  });

  it("takes back the newest edit only if it was never sent", async () => {
    const server = new FakeServer();
    server.faults = ["down", "down", "down"];
    const { outbox, store } = outboxOf(server);
    await outbox.add(edit(1), 0, 0, () => undefined);
    await until(() => outbox.isUnreachable);
    expect(await outbox.remove(outbox.queued)).toBe(false);
    // The request of another gesture does not contain it.
    await outbox.add(edit(2), 0, 0, () => undefined, "gesture");
    expect(await outbox.remove(outbox.queued)).toBe(false);
    expect(await outbox.remove(outbox.queued.slice(1))).toBe(true);
    expect(await store.editsOf(outbox.client)).toHaveLength(1);
    outbox.close();
  });
});
