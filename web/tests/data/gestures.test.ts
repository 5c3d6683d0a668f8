/** A gesture that is sent as several edits is undone and redone as one. */

import "fake-indexeddb/auto";
import { IDBFactory } from "fake-indexeddb";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Api } from "../../src/data/api";
import { UndoHistory } from "../../src/data/history";
import { openSheet, type CellInput, type OpenedSheet, type OpenOptions } from "../../src/data/index";
import { Outbox } from "../../src/data/outbox";
import { IndexedDbStore, type Step, type StoredEdit } from "../../src/data/outbox-store";
import { reversalText } from "../../src/data/reversal-text";
import { nextBatch, sendsAlone, stepAfter } from "../../src/data/send";
import type { MutationResult } from "../../src/data/wire";
import { FakeServer, until } from "./server";

const opened: OpenedSheet[] = [];

async function open(fetcher: typeof fetch, more: Partial<OpenOptions> = {}): Promise<OpenedSheet> {
  const options = { url: "https://example.com", spreadsheet: "s", getToken: () => "t", identity: "alice" };
  const sheet = await openSheet({ ...options, fetch: fetcher, hints: [], random: () => 0, ...more });
  opened.push(sheet);
  return sheet;
}

/** Needs three edits. */
const PASTE: CellInput[] = Array.from({ length: 17_000 }, (_, index) => ({ row: index, column: 0, input: "" }));

/** Answers as the server does, but refuses what `isRefused` says. */
function refusing(server: FakeServer, isRefused: (op: unknown) => boolean): typeof fetch {
  return async (url, init) => {
    const body = JSON.parse(String(init?.body ?? "null")) as { mutations?: { op: unknown }[] } | null;
    const response = await server.fetch(url, init);
    if (body?.mutations?.some(({ op }) => isRefused(op)) !== true) return response;
    const reply = (await response.json()) as { results: MutationResult[] };
    const results = reply.results.map((result) => ({ ...result, status: "rejected", rejection: { reason: "nothingToUndo", detail: "it is already undone" } }));
    return new Response(JSON.stringify({ ...reply, results }), { headers: { "content-type": "application/json" } });
  };
}

const undosOf = (server: FakeServer) => server.operations().flatMap((op) => (op as { undo?: { position: number } }).undo?.position ?? []);

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

afterEach(() => {
  for (const sheet of opened.splice(0)) sheet.close();
});

describe("a request", () => {
  const edits = fc.array(fc.constantFrom("a", "b", "undo", undefined), { minLength: 1, maxLength: 12 });
  const storedEdit = (group: string | undefined, index: number): StoredEdit => {
    const op = group === "undo" ? { undo: { position: 1 } } : { setCells: { sheet: 0, cells: [] } };
    return { client: "c", id: index + 1, base: 0, incarnation: 0, op, createdMs: 0, group };
  };

  it("has edits of one gesture only, an undo alone, and all edits are sent in order", () => {
    fc.assert(
      fc.property(edits, (groups) => {
        const queue = groups.map(storedEdit);
        let rest = queue;
        while (rest.length > 0) {
          const batch = nextBatch(rest);
          expect(batch).toEqual(rest.slice(0, batch.length));
          expect(batch.length).toBeGreaterThan(0);
          expect(new Set(batch.map(({ group }) => group)).size).toBe(1);
          if (batch.some(sendsAlone)) expect(batch).toHaveLength(1);
          const next = rest[batch.length];
          // Edits that may be sent together are.
          if (next !== undefined && !sendsAlone(next)) expect(next.group).not.toBe(batch[0]?.group);
          rest = rest.slice(batch.length);
        }
      }),
    );
  });
});

describe("the steps of undo", () => {
  const answer = (position: number, id = position): MutationResult => ({ id, status: "appended", position });

  it("are one for each gesture, and one for each entry of other edits", () => {
    const history = new UndoHistory();
    const first = stepAfter(undefined, [answer(1), answer(2)], undefined);
    history.answer([], first);
    const part = stepAfter(first, [answer(3)], "paste");
    history.answer([], part);
    history.answer([], stepAfter(part, [{ id: 4, status: "rejected", position: 4 }, answer(5)], "paste"));
    history.answer([], stepAfter(part, [{ id: 9, status: "rejected", position: 9 }], "other"));
    expect(history.undoable.map(({ positions }) => positions)).toEqual([[1], [2], [3, 5]]);
  });

  it("have an entry once, also if its edits are answered together", () => {
    expect(stepAfter(undefined, [answer(7, 1), answer(7, 2)], undefined).positions).toEqual([7]);
  });
});

describe("the message of an undo", () => {
  const done = (cells: number, left = 0): MutationResult => ({ id: 1, status: "appended", position: 1, reversal: { restored: { cells }, left: { cells: left } } });
  const refused: MutationResult = { id: 2, status: "rejected", rejection: "it is already undone" };

  it.each([
    [[done(1)], "Undid 1 cell"],
    [[done(5, 1), done(7, 2)], "Undid 12 cells; 3 cells changed since and kept"],
    [[done(5), refused, done(7)], "Undid 12 cells; 1 of 3 parts not undone: it is already undone"],
    [[refused, refused], "it is already undone"],
  ])("adds up its parts: %#", (answers, text) => {
    expect(reversalText("undo", answers)).toBe(text);
  });
});

describe("a paste of several edits", () => {
  it("is undone and redone at once", async () => {
    const server = new FakeServer();
    const sheet = await open(server.fetch);
    sheet.setCells(PASTE);
    sheet.setCells([{ row: 0, column: 1, input: "next" }]);
    await until(() => server.head === 4);
    expect(await sheet.undo()).toBe("Undid an edit");
    expect(await sheet.undo()).toBe("Undid an edit");
    expect(undosOf(server)).toEqual([4, 3, 2, 1]);
    expect(await sheet.undo()).toBe("There is nothing to undo");
    await sheet.redo();
    expect(undosOf(server).slice(4)).toEqual([8, 7, 6]);
    await sheet.redo();
    expect(undosOf(server).slice(7)).toEqual([5]);
    expect(await sheet.redo()).toBe("There is nothing to redo");
    await sheet.undo();
    await sheet.undo();
    expect(undosOf(server).slice(8)).toEqual([12, 11, 10, 9]);
  });

  it("says which parts could not be undone, and redoes the others", async () => {
    const server = new FakeServer();
    const isSecond = (op: unknown) => (op as { undo?: { position: number } }).undo?.position === 2;
    const sheet = await open(refusing(server, isSecond));
    sheet.setCells(PASTE);
    await until(() => server.head === 3);
    expect(await sheet.undo()).toBe("Undid an edit; 1 of 3 parts not undone: it is already undone");
    await sheet.redo();
    expect(undosOf(server)).toEqual([3, 2, 1, 6, 4]);
  });

  it("is not redone in part if the user edits before the undo is answered", async () => {
    const server = new FakeServer();
    let go: () => void = () => undefined;
    const going = new Promise<void>((resolve) => (go = resolve));
    const sheet = await open(async (url, init) => {
      if (String(init?.body).includes('"undo":{"position":2}')) await going;
      return server.fetch(url, init);
    });
    sheet.setCells(PASTE);
    await until(() => server.head === 3);
    const undone = sheet.undo();
    await until(() => undosOf(server).length === 1);
    sheet.setCells([{ row: 0, column: 0, input: "next" }]);
    go();
    expect(await undone).toBe("Undid an edit");
    await until(() => sheet.status.pending === 0);
    expect(undosOf(server)).toEqual([3, 2, 1]);
    expect(await sheet.redo()).toBe("There is nothing to redo");
  });

  it("is removed at once if nothing of it was sent, and is a step after that", async () => {
    const server = new FakeServer();
    let isOffline = false;
    const sheet = await open(async (url, init) => {
      if (isOffline) throw new TypeError("offline");
      return server.fetch(url, init);
    });
    isOffline = true;
    sheet.setCells([{ row: 9, column: 9, input: "sent" }]);
    await until(() => !sheet.status.isOnline);
    sheet.setCells(PASTE);
    await until(() => sheet.status.pending === 4);
    expect(await sheet.undo()).toBe("Removed an edit that was not sent yet");
    expect(sheet.status.pending).toBe(1);
    isOffline = false;
    sheet.refresh();
    await until(() => server.head === 1 && sheet.status.pending === 0);
    await sheet.undo();
    expect(undosOf(server)).toEqual([1]);
  });

  it("is one step, also if the page was reloaded after a part was answered", async () => {
    const server = new FakeServer();
    let posts = 1;
    const fetcher: typeof fetch = async (url, init) => {
      if (init?.method === "POST" && (posts -= 1) < 0) throw new TypeError("offline");
      return server.fetch(url, init);
    };
    const store = new IndexedDbStore("reload");
    const sheet = await open(fetcher, { store });
    sheet.setCells(PASTE);
    await until(() => server.head === 1 && !sheet.status.isOnline);
    sheet.close();
    const [client] = await store.clients();
    const steps: Step[] = [];
    const events = { answered: (_: unknown, step: Step) => void steps.push(step), startOver: () => undefined, clientChanged: () => undefined, changed: () => undefined };
    const api = new Api({ url: "https://example.com", spreadsheet: "s", getToken: () => "t", fetch: server.fetch, random: () => 0 });
    const outbox = new Outbox({ api, store, scope: client!, random: () => 0, now: () => 0, events });
    expect(outbox.continueAs(client!, await store.editsOf(client!.client))).toBe(true);
    await outbox.flush();
    expect(server.head).toBe(3);
    expect(steps.at(-1)?.positions).toEqual([1, 2, 3]);
    outbox.close();
  });
});
