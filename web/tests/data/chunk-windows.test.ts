import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Api } from "../../src/data/api";
import type { Block, BlockPlace } from "../../src/data/block";
import { CanonicalState } from "../../src/data/canonical";
import { ChunkWindows, type OpenWindows } from "../../src/data/chunk-windows";
import { download, WindowReader } from "../../src/data/chunks/window-reader";
import { blocksOf, rangeOf } from "../../src/data/loaded-blocks";
import { loadFormatter } from "../../src/data/text";
import { HAS_STACK, startStack, type Stack } from "../stack";
import { SeededRandom } from "./random";

const CONFIGURATION = "snapshots:\n  entries: 10\n  bytes: 16384\n";
const CSV = new URL("../../../tests/data/airports.csv", import.meta.url).pathname;

let stack: Stack;

const inThisThread: OpenWindows = async ({ root, rootUrl }, chunkUrls) => {
  const reader = await WindowReader.open({ port: { chunkUrls, download }, root, rootUrl });
  return { position: reader.position, read: (sheet, range) => reader.read(sheet, range), close: () => undefined };
};

/** A follower of the log that reads windows from chunks and from the server. */
class Reader {
  readonly state = new CanonicalState();
  readonly api: Api;
  readonly windows: ChunkWindows;
  timeMs = 0;

  constructor(readonly spreadsheet: string, openWindows = inThisThread) {
    this.api = new Api({ url: stack.url, spreadsheet, getToken: () => stack.token });
    this.windows = new ChunkWindows(this.api, this.state, openWindows, () => this.timeMs, 10_000);
  }

  async start(): Promise<void> {
    this.state.reset(await this.api.sheets());
    await this.windows.open();
  }

  async follow(): Promise<void> {
    const { entries } = await this.api.entries(this.state.position);
    for (const entry of entries) {
      this.state.apply(entry);
      this.windows.note(entry);
    }
  }

  async fromServer(places: readonly BlockPlace[]): Promise<Block[]> {
    const { sheet, name } = this.state.sheets[0]!;
    const reply = await this.api.cells({ sheet: name, range: rangeOf(places), at: this.state.position });
    expect(reply.sheet).toBe(sheet);
    return blocksOf(places, reply);
  }
}

function contents(blocks: readonly Block[]): unknown[] {
  return blocks.map((block) => {
    const cells: unknown[] = [];
    block.forEachLoaded((row, column, cell) => cell !== undefined && cells.push([row, column, cell]));
    return { ...block.place, isComplete: block.isComplete(), cells };
  });
}

let nextId = 1;

async function edit({ api, spreadsheet }: Reader, op: unknown): Promise<void> {
  const { head, incarnation } = await api.head();
  const { results } = await api.append({ client_id: `test-${spreadsheet}`, incarnation, acked_id: nextId - 1, mutations: [{ id: nextId, base: head, op }] });
  expect(results.map(({ status }) => status), JSON.stringify(op)).toEqual(["appended"]);
  nextId += 1;
}

async function imported(): Promise<string> {
  const created = JSON.parse(await stack.cellar("import", CSV, "--json")) as Record<string, unknown>;
  nextId = 1;
  return String(created["id"] ?? created["spreadsheet"]);
}

async function waitForRoot(reader: Reader): Promise<number> {
  const rootOf = (body: unknown) => (body as { root?: string; entries: { position: number }[] });
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const { root, entries } = await reader.api.get("", {}, rootOf);
    if (root !== undefined) return entries[0]?.position ?? 0;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("there is no snapshot");
}

describe.skipIf(!HAS_STACK)("windows of chunks", () => {
  beforeAll(async () => {
    stack = await startStack(CONFIGURATION);
    await loadFormatter();
  }, 60_000);
  afterAll(async () => stack?.stop());

  it("are those of the server, also after inserts, deletes and edits", { timeout: 300_000 }, async () => {
    const random = new SeededRandom(23);
    const reader = new Reader(await imported());
    await reader.start();
    const { sheet } = reader.state.sheets[0]!;
    for (let step = 0; step < 12; step += 1) await edit(reader, randomOperation(random, sheet));
    await waitForRoot(reader);
    await reader.follow();
    reader.timeMs += 1_000_000;
    await reader.windows.open();
    let [fromChunks, cells] = [0, 0];
    for (let batch = 0; batch < 12; batch += 1) {
      for (let round = 0; round < 6; round += 1) {
        const first = { sheet, rowBlock: random.below(12), columnBlock: random.below(2) };
        const places = random.isTrue() ? [first] : [first, { ...first, columnBlock: first.columnBlock + 1 }];
        const found = await reader.windows.read(places);
        if (found === null) continue;
        fromChunks += 1;
        const expected = contents(await reader.fromServer(places));
        expect(contents(found), JSON.stringify({ places, batch })).toEqual(expected);
        cells += (expected as { cells: unknown[] }[]).reduce((sum, block) => sum + block.cells.length, 0);
      }
      await edit(reader, randomOperation(random, sheet));
      await reader.follow();
    }
    expect(fromChunks).toBeGreaterThan(50);
    expect(cells).toBeGreaterThan(10_000);
  });

  it("are asked of the server after a formula, and if the bucket or the objects cannot be used", { timeout: 120_000 }, async () => {
    const random = new SeededRandom(3);
    const failing: OpenWindows = async (root, chunkUrls) => {
      const source = await inThisThread(root, chunkUrls);
      return { ...source, read: () => Promise.reject(new Error("the bucket is closed")) };
    };
    const closed: OpenWindows = () => Promise.reject(new Error("the bucket is closed"));
    const spreadsheet = await imported();
    const [reader, broken, refused] = [new Reader(spreadsheet), new Reader(spreadsheet, failing), new Reader(spreadsheet, closed)];
    await reader.start();
    const { sheet } = reader.state.sheets[0]!;
    const places = [{ sheet, rowBlock: 1, columnBlock: 0 }];
    expect(await reader.windows.read(places), "there is no root yet").toBeNull();
    for (let step = 0; step < 12; step += 1) await edit(reader, { setCells: { sheet, cells: [{ row: random.below(50), column: 1, value: step }] } });
    await waitForRoot(reader);
    await reader.follow();
    reader.timeMs += 1_000_000;
    await reader.windows.open();
    for (const other of [broken, refused]) {
      await other.start();
      expect(await other.windows.read(places)).toBeNull();
      expect(await other.windows.read(places)).toBeNull();
    }
    expect(contents((await reader.windows.read(places)) ?? [])).toEqual(contents(await reader.fromServer(places)));
    await edit(reader, { setCells: { sheet, cells: [{ row: 200, column: 2, value: "not followed" }] } });
    reader.state.reset(await reader.api.sheets());
    await edit(reader, { setCells: { sheet, cells: [{ row: 201, column: 2, value: "followed" }] } });
    await reader.follow();
    expect(await reader.windows.read(places), "an entry is not known").toBeNull();
    reader.timeMs += 1_000_000;
    await reader.windows.open();
    expect(contents((await reader.windows.read(places)) ?? [])).toEqual(contents(await reader.fromServer(places)));
    await edit(reader, { setCells: { sheet, cells: [{ row: 3, column: 30, formula: "=SEQUENCE(300)" }] } });
    await reader.follow();
    expect(await reader.windows.read(places), "a formula may fill any cell").toBeNull();
  });
});

function randomOperation(random: SeededRandom, sheet: number): unknown {
  const spans = (limit: number, most: number) => [{ first: random.below(limit), count: 1 + random.below(most) }];
  const kind = random.below(8);
  if (kind === 0) return { insertRows: { sheet, before: random.below(400), count: 1 + random.below(30) } };
  if (kind === 1) return { deleteRows: { sheet, spans: spans(400, 30) } };
  if (kind === 2) return { insertColumns: { sheet, before: random.below(12), count: 1 } };
  if (kind === 3) return { deleteColumns: { sheet, spans: spans(12, 1) } };
  const cells = Array.from({ length: 1 + random.below(60) }, () => randomCell(random));
  return { setCells: { sheet, cells: [...new Map(cells.map((cell) => [`${cell.row}:${cell.column}`, cell])).values()] } };
}

function randomCell(random: SeededRandom): { row: number; column: number; value?: unknown; format?: string } {
  const place = { row: random.below(1_000), column: random.below(14) };
  const kind = random.below(6);
  if (kind === 0) return { ...place, value: null };
  if (kind === 1) return { ...place, format: "0.000" };
  if (kind === 2) return { ...place, value: random.isTrue() };
  if (kind === 3) return { ...place, value: random.below(10_000) / 100, format: "# ?/?" };
  return { ...place, value: random.isTrue() ? `text ${random.below(50)}` : random.below(100_000) - 50_000 };
}
