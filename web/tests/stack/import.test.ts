import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCells } from "../../src/stack/cells";
import { createStackClient, type StackClient } from "../../src/stack/http";
import { readSheets } from "../../src/stack/history";
import { importFile, MAX_IMPORT_BYTES } from "../../src/stack/import";
import { listSpreadsheets } from "../../src/stack/list";
import type { ReadCell } from "../../src/stack/types";
import { HAS_STACK, startStack, type Stack } from "../stack";

const FILES: Record<string, string | Uint8Array> = {
  "types.csv":
    "code,price,mixed,when,flag,long\n007,1.50,1.5,2026-11-27,TRUE,12345678901234567890\n0E8,12.00,-0.25,2026-02-28,FALSE,0.1\n",
  "dates.csv": "a,b,c\n2026/01/31,2026-01-31 10:20:30,2026-02-30\n2025/12/31,2025-12-31 00:00:00,2026-02-28\n",
  "times.csv": "a\n2026-01-31T10:20:30\n1899-12-31T00:00:00\n",
  "heading.csv": "2024,total\n1,2\n3,4\n",
  "numbers.csv": "a,b,c,d\n-0,0.10,1e5,.5\n-0.0,0.25,2,0.5\n0.0000001,123456789.123456789,3,00.5\n",
  "long.csv": "a\n1234567890123456\n123456789012345678901234\n0.1000000000000000055511151231257827\n",
  "quotes.csv": 'name,text\n"Doe, Ann","say ""hello"""\nPoe,"two\nlines"\n5" pipe,x\n"",empty\n',
  "crlf.csv": 'a,b\r\n1,"x\r\ny"\r\n\r\n2,z\r\n',
  "cr.csv": "a,b\r1,2\r3,4",
  "semicolon.csv": "tea;1,5\nmilk;2,5\n",
  "pipe.csv": "a|b\n1|2\n",
  "tab.tsv": "a,x\tb\n1\t2\n",
  "bom.csv": "\ufeffa,b\n1,2\n",
  "column.csv": "a\n\n\nb\n\n",
  "blank-lines.csv": "\n\na,b\n\n1,2\n\n",
  "sparse.csv": ",,\n,x,\n,,1\n",
  "unicode.csv": "ключ,漢字\n🎉,é\n",
  "formulas.csv": "a,b\n=1+1,@x\n+1,-2\n",
  "errors.csv": "a\n#N/A\n#REF!\n",
  "utf16.csv": new Uint8Array(Buffer.from("\ufeffa;b\n1;é\n", "utf16le")),
};

describe.skipIf(!HAS_STACK)("import", () => {
  let local: Stack;
  let stack: StackClient;
  beforeAll(async () => {
    local = await startStack();
    stack = createStackClient({ url: local.url, getToken: () => local.token });
  }, 60_000);
  afterAll(async () => local.stop());

  async function cellsOf(id: string): Promise<ReadCell[]> {
    const cells: ReadCell[] = [];
    for await (const page of readCells(stack, id, {})) cells.push(...page.cells);
    return cells;
  }

  async function importWithCommand(name: string, content: string | Uint8Array, ...args: string[]): Promise<string> {
    const path = join(tmpdir(), `${process.pid}-${name}`);
    await writeFile(path, content);
    const printed = JSON.parse(await local.cellar("import", path, "--json", ...args)) as { spreadsheet: string };
    return printed.spreadsheet;
  }

  function fileOf(name: string, content: string | Uint8Array): File {
    return new File([content as BlobPart], name);
  }

  test.each(Object.entries(FILES))("%s has the cells of `cellar import`", async (name, content) => {
    const { id, cells } = await importFile(fileOf(name, content), stack);
    const expected = await cellsOf(await importWithCommand(name, content));
    expect(await cellsOf(id)).toEqual(expected);
    expect(cells).toBe(expected.length);
  });

  test("a real file has the cells of `cellar import`", async () => {
    const content = await readFile(new URL("../../../tests/data/airports.csv", import.meta.url));
    const seen: number[] = [];
    const file = fileOf("airports.csv", content);
    const { id, rows, columns } = await importFile(file, stack, ({ done }) => seen.push(done));
    expect({ rows, columns }).toEqual({ rows: 3377, columns: 7 });
    expect(await cellsOf(id)).toEqual(await cellsOf(await importWithCommand("airports.csv", content)));
    expect(seen.length).toBeGreaterThan(1);
  }, 60_000);

  test.each(["sales.csv", "Q1: [new] 'x'.csv", `${"long".repeat(10)}.tsv`, ".csv", "Sheet1.csv"])("the sheet of %j is named as by `cellar import`", async (name) => {
    const { id } = await importFile(fileOf(name, "a,b\n1,2\n"), stack);
    const folder = await mkdtemp(join(tmpdir(), "import-"));
    const path = join(folder, name);
    await writeFile(path, "a,b\n1,2\n");
    const printed = JSON.parse(await local.cellar("import", path, "--json")) as { spreadsheet: string };
    const names = async (of: string) => (await readSheets(stack, of)).sheets.map((sheet) => sheet.name);
    expect(await names(id)).toEqual(await names(printed.spreadsheet));
  });

  test("text that is not UTF-8 is read as Windows-1252", async () => {
    const content = new Uint8Array([0x61, 0x2c, 0x62, 0x0a, 0xe9, 0x2c, 0x80, 0x0a]);
    const { id, notes } = await importFile(fileOf("old.csv", content), stack);
    const expected = await importWithCommand("old.csv", content, "--encoding", "windows-1252");
    expect(await cellsOf(id)).toEqual(await cellsOf(expected));
    expect(notes.join(" ")).toContain("windows-1252");
  });

  test.each([
    ["ragged.csv", "a,b\n1\n", "Line 2: the row has 1 field, but the first row has 2"],
    ["open.csv", 'a,"b\n1,2\n', "Line 1, column 2: a quoted field starts here"],
    ["after.csv", '"a"b,c\n', "Line 1, column 1: text follows the closing quote"],
    ["empty.csv", "\n", "The file is empty"],
    ["book.xlsx", "x", "cellar import --url STACK 'book.xlsx'"],
    ["book.csv", "PK\u0003\u0004", "cellar import --url STACK 'book.csv'"],
    ["it's.ods", "x", "cellar import --url STACK 'it'\\''s.ods'"],
    ["-x.xlsx", "x", "cellar import --url STACK './-x.xlsx'"],
  ])("%s is refused with what to do", async (name, content, message) => {
    await expect(importFile(fileOf(name, content), stack)).rejects.toThrow(message.replace("STACK", stack.url));
  });

  test("a file beyond the limit names the value, the limit and the command", async () => {
    const file = fileOf("large.csv", "a,b\n");
    Object.defineProperty(file, "size", { value: MAX_IMPORT_BYTES + 1 });
    await expect(importFile(file, stack)).rejects.toThrow(/52,428,801 bytes.*at most 52,428,800.*cellar import/s);
  });

  test("an import after lost replies has each cell once, in one spreadsheet", async () => {
    const name = `lost-${Date.now()}`;
    const rows = Array.from({ length: 8_000 }, (_, row) => `${row},x${row}`).join("\n");
    const file = fileOf(`${name}.csv`, rows);
    const lost = new Set<string>();
    const losing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const path = new URL(String(input)).pathname.replace(/[0-9a-f-]{36}/g, "ID");
      if (init?.method !== "POST" || lost.has(path)) return response;
      lost.add(path);
      throw new TypeError("the reply is lost");
    };
    const faulty = createStackClient({ url: local.url, getToken: () => local.token, fetch: losing });
    const { id } = await importFile(file, faulty);
    expect(lost.size).toBe(4);
    expect((await cellsOf(id)).length).toBe(16_000);
    await expect.poll(async () => (await listSpreadsheets(stack, { name })).spreadsheets.length).toBe(1);
    const history = JSON.parse(await local.cellar("history", "-s", id, "--json")) as { entries: { kind: string }[] };
    expect(history.entries.filter((entry) => entry.kind === "edits").length).toBe(2);
  }, 60_000);

  test("a failed import continues with the same file", async () => {
    const name = `retry-${Date.now()}`;
    const rows = Array.from({ length: 25_000 }, (_, row) => `${row},${row * 2}`).join("\n");
    const file = fileOf(`${name}.csv`, rows);
    let appends = 0;
    const failing: typeof fetch = async (input, init) => {
      if (String(input).endsWith("/entries") && (appends += 1) > 3) throw new TypeError("offline");
      return fetch(input, init);
    };
    const faulty = createStackClient({ url: local.url, getToken: () => local.token, fetch: failing });
    await expect(importFile(file, faulty)).rejects.toThrow("did not respond");
    const { id } = await importFile(file, stack);
    expect((await cellsOf(id)).length).toBe(50_000);
    await expect.poll(async () => (await listSpreadsheets(stack, { name })).spreadsheets.length).toBe(1);
  }, 120_000);

  test("cells are sent in requests where objects cannot be uploaded", async () => {
    const rows = Array.from({ length: 6_000 }, (_, row) => `${row},"x${row}",2026-01-01`).join("\n");
    const real = globalThis.fetch;
    let uploads = 0;
    vi.stubGlobal("fetch", async (input: string, init?: RequestInit) => {
      if (init?.method === "PUT") throw new TypeError(`blocked ${(uploads += 1)}`);
      return real(input, init);
    });
    onTestFinished(() => void vi.unstubAllGlobals());
    // As another stack, because a stack that has refused an upload is not asked again.
    const refusing = createStackClient({ url: local.url.replace("127.0.0.1", "localhost"), getToken: () => local.token });
    const { id } = await importFile(fileOf("requests.csv", rows), refusing);
    expect(await cellsOf(id)).toEqual(await cellsOf(await importWithCommand("requests.csv", rows)));
    await importFile(fileOf("again.csv", rows), refusing);
    expect(uploads).toBe(1);
  }, 60_000);

  test("a large import can be read when it ends", async () => {
    const rows = Array.from({ length: 20_000 }, (_, row) => `${row},name ${row},2026-01-01,${row / 7},TRUE,x,y,z,${row * 3},end`);
    const steps = new Set<string>();
    const { id, cells } = await importFile(fileOf("large.csv", rows.join("\n")), stack, ({ step }) => steps.add(step));
    expect(cells).toBe(200_000);
    const { value } = await readCells(stack, id, { range: "A20000:B20000" }).next();
    expect(value?.cells.map((cell) => cell.value)).toEqual([19_999, "name 19999"]);
    expect([...steps]).toEqual(["reading", "sending", "preparing"]);
  }, 180_000);

  test("a cancelled import leaves no spreadsheet", async () => {
    const name = `cancel-${Date.now()}`;
    const rows = Array.from({ length: 30_000 }, (_, row) => `${row},${row * 2}`).join("\n");
    const end = new AbortController();
    const importing = importFile(
      fileOf(`${name}.csv`, rows),
      stack,
      ({ step, done }) => {
        if (step === "sending" && done > 0) end.abort();
      },
      { signal: end.signal },
    );
    await expect(importing).rejects.toThrow("The import was cancelled. Its spreadsheet was deleted.");
    await expect.poll(async () => (await listSpreadsheets(stack, { name })).spreadsheets.length).toBe(0);
  }, 60_000);

  test.each([
    ["before anything is sent", "reading", "Nothing was created."],
    ["while the spreadsheet is created", "creating", "Its spreadsheet was deleted."],
    ["when all cells are sent", "preparing", "Its spreadsheet was deleted."],
  ])("an import that is cancelled %s leaves no spreadsheet", async (_when, at, left) => {
    const name = `cancel-${at}-${Date.now()}`;
    const end = new AbortController();
    const watching: typeof fetch = async (input, init) => {
      // The stack creates the spreadsheet, and the reply is not read any more.
      const response = await fetch(input, at === "creating" ? { ...init, signal: null } : init);
      if (at === "creating") end.abort();
      init?.signal?.throwIfAborted();
      return response;
    };
    const watched = createStackClient({ url: local.url, getToken: () => local.token, fetch: watching });
    if (at === "reading") end.abort();
    const importing = importFile(fileOf(`${name}.csv`, "a,b\n1,2\n"), watched, ({ step }) => step === at && end.abort(), { signal: end.signal });
    await expect(importing).rejects.toThrow(left);
    await expect.poll(async () => (await listSpreadsheets(stack, { name })).spreadsheets.length).toBe(0);
    const deleted = (await listSpreadsheets(stack, { name, status: "deleted" })).spreadsheets;
    expect(deleted.length).toBe(at === "reading" ? 0 : 1);
  });
});
