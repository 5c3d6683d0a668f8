import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BlobSink, exportSheet, type Exported } from "../../src/stack/export";
import { createStackClient, type StackClient } from "../../src/stack/http";
import { readSheets } from "../../src/stack/history";
import { HAS_STACK, startStack, type Stack } from "../stack";

/** Each number is displayed in each format, so that differences of any section are found. */
const NUMBERS = [
  0, -0, 1, -1, 0.5, -0.5, 1.005, 2.5, 0.1 + 0.2, 1234.5678, -1234.5678, 999.96, 1e15, 1234567890123456, 1e21, 1.5e22,
  1e-7, 123456789012344.5, 0.000123, 61, 60, 46_023, 46_023.999_999_99, 46_023.75, 0.75, 1.5, 2_958_465.5, 3e6, 1 / 3,
  3.14159, 0.0449, 12, 100, 1e9, 0.3333, 5.25,
];
const FORMATS = [
  "0", "0.00", "#,##0.00", "#,##0", "0%", "0.0%", "0.00E+00", "##0.0E+0", "#.##", "?0.0?", "000.0", "0,,", "0.0,", ".00",
  "0.00;(0.00)", "0.00;(0.00);\"zero\"", "[>=100]0;[<0]\"neg\" 0;0.00", "[Red]0.0;[Blue]-0.0", "\"kg\" 0", "0 \"kg\"", "0.0x",
  "[$€-407] #,##0.00", "_(0_)", "*-0", "\\a0", "# ?/?", "# ??/??", "?/?", "# ?/8", "0 0/100", "#,##0 ?/?", "yyyy-mm-dd",
  "yyyy/mm/dd", "dd.mm.yy", "d mmm yyyy", "dddd, mmmm d", "ddd mmmmm", "yyyy-mm-dd hh:mm:ss", "yyyy-mm-ddThh:mm:ss", "h:mm AM/PM",
  "h A/P", "mm:ss", "mm:ss.0", "hh:mm:ss.000", "[h]:mm", "[mm]:ss", "[ss]", "e", "@", "0;-0;0;\"<\"@\">\"", "General", "General \"x\"",
  "\"only\"", "#,#0.0#", "$#,##0.00",
];
const TEXTS = ["plain", "a,b", "a;b", "a|b", "a\tb", 'say "x"', "two\nlines", "cr\rx", "=1+1", "+1", "-x", "@y", "PKx", "\ufeffx", "ключ 🎉", " ", "'quoted"];

describe.skipIf(!HAS_STACK)("export", () => {
  let local: Stack;
  let stack: StackClient;
  beforeAll(async () => {
    local = await startStack();
    stack = createStackClient({ url: local.url, getToken: () => local.token });
  }, 60_000);
  afterAll(async () => local.stop());

  async function exported(id: string, delimiter: "," | "\t"): Promise<{ text: string; report: Exported }> {
    const sink = new BlobSink();
    const { name: sheet = "" } = (await readSheets(stack, id)).sheets[0] ?? {};
    const report = await exportSheet(stack, id, { sheet, delimiter }, sink.write);
    return { text: await sink.blob("text/csv").text(), report };
  }

  async function withCommand(id: string, extension: string): Promise<string> {
    const path = join(tmpdir(), `${process.pid}-${id}.${extension}`);
    await local.cellar("export", path, "-s", id, "--force");
    return readFile(path, "utf8");
  }

  async function create(cells: object[]): Promise<string> {
    const id = await local.create("export");
    const { position: base, incarnation } = await readSheets(stack, id);
    const mutations = [{ id: 1, base, op: { setCells: { sheet: 0, cells } } }];
    const body = { client_id: "test", incarnation, acked_id: 0, mutations };
    const reply = await stack.send({ path: `/spreadsheets/${id}/entries`, body, decode: (value) => JSON.stringify(value) });
    expect(reply.body).not.toContain("rejected");
    return id;
  }

  test("numbers in all formats have the bytes of `cellar export`", async () => {
    const cells = NUMBERS.flatMap((value, row) => FORMATS.map((format, column) => ({ row, column, value, format })));
    const id = await create(cells);
    const expected = (await withCommand(id, "csv")).split("\n");
    expect(expected.length).toBe(NUMBERS.length + 1);
    const { text } = await exported(id, ",");
    text.split("\n").forEach((line, row) => expect(line, `row of ${NUMBERS[row]}`).toBe(expected[row]));
    expect((await exported(id, "\t")).text).toBe(await withCommand(id, "tsv"));
  });

  test("texts, booleans, errors and gaps have the bytes of `cellar export`", async () => {
    const cells = [
      ...TEXTS.map((value, row) => ({ row: row * 2, column: row % 3, value })),
      ...TEXTS.map((value, row) => ({ row: row * 2, column: 5, value, format: '0;-0;0;"<"@">"' })),
      { row: 3, column: 7, value: true },
      { row: 4, column: 7, value: { error: "#N/A" } },
      { row: 90, column: 9, value: "last" },
      { row: 95, column: 12, value: "" },
    ];
    const id = await create(cells);
    const { text, report } = await exported(id, ",");
    expect(text).toBe(await withCommand(id, "csv"));
    expect((await exported(id, "\t")).text).toBe(await withCommand(id, "tsv"));
    expect(report).toMatchObject({ rows: 91, columns: 10, formulaLikeTexts: 4 });
  });

  test.each([["first"], ["PK1"], [""]])("a single column that starts with %j has the bytes of `cellar export`", async (first) => {
    const id = await create([{ row: 0, column: 0, value: first }, { row: 3, column: 0, value: "x" }]);
    expect((await exported(id, ",")).text).toBe(await withCommand(id, "csv"));
  });

  test("results of formulas have the bytes of `cellar export`", async () => {
    const formulas = ["=0.1+0.2", "=1/3", "=1/0", "=10^21", "=10^-12", "=\"a\"&\"b\"", "=1=1", "=DATE(2026,1,2)", "=-1/3", "=2^60", "=SEQUENCE(2,2)"];
    const id = await create(formulas.map((formula, row) => ({ row: row * 3, column: 1, formula })));
    expect((await exported(id, ",")).text).toBe(await withCommand(id, "csv"));
  });

  test("an empty sheet is an empty file", async () => {
    const id = await local.create("empty");
    expect((await exported(id, ",")).text).toBe(await withCommand(id, "csv"));
  });

  test("a large sheet is read in pages of one state", async () => {
    const path = new URL("../../../tests/data/airports.csv", import.meta.url).pathname;
    const printed = JSON.parse(await local.cellar("import", path, "--json")) as { spreadsheet: string };
    const { text, report } = await exported(printed.spreadsheet, ",");
    expect(text).toBe(await withCommand(printed.spreadsheet, "csv"));
    expect(report.rows).toBe(3377);
  });

  test("a cell far from the others is refused with what to do", async () => {
    const id = await create([{ row: 2 ** 29, column: 1_000, value: 1 }]);
    await expect(exported(id, ",")).rejects.toThrow(/536,870,913 rows and 1,001 columns.*more than 200,000,000/);
  });

  test("a file beyond the bound of the memory names the command", async () => {
    const sink = new BlobSink(10);
    await sink.write(new Uint8Array(10));
    await expect(sink.write(new Uint8Array(1))).rejects.toThrow("cellar export FILE.csv");
  });
});
