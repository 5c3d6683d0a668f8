import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { download, WindowReader, type ChunkPort, type ReadWindow } from "../../src/data/chunks/window-reader";
import { rangeText } from "../../src/data/api";
import { decodeCells } from "../../src/data/decode-replies";
import type { Range } from "../../src/data/types";
import type { CellsReply, RangeFormat, WireCell } from "../../src/data/wire";
import { HAS_STACK, startStack, type Stack } from "../stack";
import { SeededRandom } from "./random";

const CONFIGURATION = "snapshots:\n  entries: 10\n  bytes: 16384\n";
const CSV = new URL("../../../tests/data/airports.csv", import.meta.url).pathname;

let stack: Stack;

async function request(path: string, body?: unknown): Promise<unknown> {
  const reply = await fetch(`${stack.url}/v1/spreadsheets/${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${stack.token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${path}: ${text}`);
  return JSON.parse(text);
}

interface LoadReply {
  head: number;
  incarnation: number;
  root?: string;
  root_url?: string;
  entries: { position: number; kind: string }[];
}

const load = async (spreadsheet: string) => (await request(spreadsheet)) as LoadReply;

/** One client that appends operations, each in an entry of its own. */
class Editor {
  #id = 0;

  constructor(private readonly spreadsheet: string) {}

  async edit(op: unknown): Promise<void> {
    const { head, incarnation } = await load(this.spreadsheet);
    const mutations = [{ id: this.#id + 1, base: head, op }];
    const reply = await request(`${this.spreadsheet}/entries`, { client_id: "test", incarnation, acked_id: this.#id, mutations });
    const { results } = reply as { results: { status: string }[] };
    expect(results.map(({ status }) => status), JSON.stringify({ op, results })).toEqual(["appended"]);
    this.#id += 1;
  }
}

/** Waits for a snapshot after `position`. */
async function snapshotAfter(spreadsheet: string, position: number): Promise<LoadReply> {
  const startMs = Date.now();
  for (;;) {
    const found = await load(spreadsheet);
    const first = found.entries[0]?.position ?? 0;
    if (found.root !== undefined && first > position) return found;
    if (Date.now() - startMs > 60_000) throw new Error(`there is no snapshot after ${position}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

class CountingPort implements ChunkPort {
  readonly downloads: string[] = [];

  constructor(private readonly spreadsheet: string) {}

  async chunkUrls(hashes: readonly string[]): Promise<string[]> {
    const reply = (await request(`${this.spreadsheet}/chunks`, { hashes })) as { urls: string[] };
    return reply.urls;
  }

  async download(url: string, maxBytes: number, signal?: AbortSignal): Promise<Uint8Array> {
    this.downloads.push(url);
    return download(url, maxBytes, signal);
  }
}

function formatAt(cell: WireCell, formats: readonly RangeFormat[]): string | undefined {
  const contains = (spans: RangeFormat["rows"], index: number) =>
    spans.some(({ first, count }) => first <= index && index < first + count);
  return cell.format ?? formats.findLast(({ rows, columns }) => contains(rows, cell.row) && contains(columns, cell.column))?.format;
}

/** Returns what is shown of each cell, so that two replies can be compared. */
function shown({ cells, formats }: CellsReply | ReadWindow) {
  return cells.map((cell) => ({ row: cell.row, column: cell.column, value: cell.value, format: formatAt(cell, formats) }));
}

async function cellsOf(spreadsheet: string, sheet: string, range: Range, at: number): Promise<CellsReply> {
  const query = new URLSearchParams({ sheet, range: rangeText(range), at: String(at) });
  const reply = decodeCells(await request(`${spreadsheet}/cells?${query}`));
  let all = reply;
  for (let cursor = reply.next; cursor !== undefined; ) {
    query.set("cursor", cursor);
    const page = decodeCells(await request(`${spreadsheet}/cells?${query}`));
    all = { ...all, cells: [...all.cells, ...page.cells] };
    cursor = page.next;
  }
  return all;
}

async function expectSameWindows(spreadsheet: string, loaded: LoadReply, random: SeededRandom, count: number): Promise<number> {
  const port = new CountingPort(spreadsheet);
  const { root = "", root_url: rootUrl = "" } = loaded;
  const reader = await WindowReader.open({ port, root, rootUrl });
  let compared = 0;
  for (const { sheet, name, extent } of reader.root.sheets) {
    for (let round = 0; round < count; round += 1) {
      const firstRow = round === 0 ? 0 : random.below(extent.rows + 100);
      const firstColumn = round === 0 ? 0 : random.below(extent.columns + 2);
      const range = { firstRow, firstColumn, rowCount: 1 + random.below(400), columnCount: 1 + random.below(24) };
      const [found, expected] = [await reader.read(sheet, range), await cellsOf(spreadsheet, name, range, reader.position)];
      if (found === null) throw new Error("the server must be asked for a window without formulas");
      expect(shown(found), JSON.stringify(range)).toEqual(shown(expected));
      expect(found.extent).toEqual(expected.extent);
      compared += found.cells.length;
    }
  }
  expect(port.downloads.length).toBeGreaterThan(1);
  expect(new Set(port.downloads.map((url) => url.split("?")[0])).size).toBe(port.downloads.length);
  return compared;
}

describe.skipIf(!HAS_STACK)("a real stack", () => {
  beforeAll(async () => {
    stack = await startStack(CONFIGURATION);
  }, 60_000);
  afterAll(async () => stack?.stop());

  it("gives the same windows by chunks as by cells", async () => {
    const created = JSON.parse(await stack.cellar("import", CSV, "--json")) as Record<string, unknown>;
    const spreadsheet = String(created["id"] ?? created["spreadsheet"]);
    const random = new SeededRandom(7);
    const editor = new Editor(spreadsheet);
    const { sheets } = (await request(`${spreadsheet}/sheets`)) as { sheets: { sheet: number }[] };
    const sheet = sheets[0]?.sheet ?? 0;
    let loaded = await load(spreadsheet);
    let compared = 0;
    for (let batch = 0; batch < 6; batch += 1) {
      for (let step = 0; step < 11; step += 1) await editor.edit(randomOperation(random, sheet));
      loaded = await snapshotAfter(spreadsheet, loaded.entries[0]?.position ?? 0);
      compared += await expectSameWindows(spreadsheet, loaded, random, 6);
    }
    expect(compared).toBeGreaterThan(10_000);
  }, 300_000);
});

function randomOperation(random: SeededRandom, sheet: number): unknown {
  const spans = (limit: number, most: number) => [{ first: random.below(limit), count: 1 + random.below(most) }];
  const kind = random.below(12);
  if (kind === 0) return { insertRows: { sheet, before: random.below(400), count: 1 + random.below(30) } };
  if (kind === 1) return { deleteRows: { sheet, spans: spans(400, 30) } };
  if (kind === 2) return { insertColumns: { sheet, before: random.below(12), count: 1 } };
  if (kind === 3) return { deleteColumns: { sheet, spans: spans(12, 1) } };
  if (kind === 4) return { clearRange: { sheet, rows: spans(400, 40), columns: spans(10, 4) } };
  if (kind === 5) return { setFormat: { sheet, rows: spans(400, 80), columns: spans(10, 4), format: "0.00" } };
  const cells = Array.from({ length: 1 + random.below(200) }, () => randomCell(random));
  return { setCells: { sheet, cells: [...new Map(cells.map((cell) => [`${cell.row}:${cell.column}`, cell])).values()] } };
}

function randomCell(random: SeededRandom): { row: number; column: number; value?: unknown; format?: string } {
  const place = { row: random.below(1_000), column: random.below(14) };
  const kind = random.below(8);
  if (kind === 0) return { ...place, value: null };
  if (kind === 1) return { ...place, format: "0.000" };
  if (kind === 2) return { ...place, value: random.isTrue() };
  if (kind === 3) return { ...place, value: random.below(10_000) / 100, format: "0.0" };
  if (kind === 4) return { ...place, value: { error: "#N/A" } };
  if (kind === 5) return { ...place, value: "long ".repeat(900 + random.below(20)) };
  return { ...place, value: random.isTrue() ? `text ${random.below(50)}` : random.below(100_000) - 50_000 };
}
