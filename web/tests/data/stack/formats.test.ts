import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HAS_STACK, startStack, type Stack } from "../../stack";
import * as support from "./support";

/** Formats of the guides, of typed input, and of files that other programs write. */
const FORMATS = [
  "General", "0", "0.00", "#,##0", "#,##0.00", "0%", "0.0%", "0.00E+00", "##0.0E+0", "# ?/?", "# ??/??", "$#,##0.00",
  "[$€-407] #,##0.00", "#,##0.00 \"kg\"", "#,##0;[Red](#,##0)", "_($* #,##0.00_);_($* (#,##0.00);_($* \"-\"??_);_(@_)",
  "0,", "000-00-0000", "[>=1000]0.0,\"k\";0", "yyyy-mm-dd", "dd.mm.yyyy", "m/d/yy", "d mmm yyyy", "dddd, mmmm d, yyyy",
  "yyyy-mm-dd hh:mm:ss", "h:mm AM/PM", "[h]:mm:ss", "mm:ss.0", "@", "\"Mr. \"@", ";;;",
];
const VALUES: (number | string | boolean)[] = [0, 1, -1, 0.5, 1234.567, -1234.567, 46024.6789, 1e15, 1e21, 1e-7, 1.005, -0.0001, "text", true];
const FORMULAS = ["=0.1+0.2", "=1/3", "=1e21*1", "=1e-11*1.5", "=-2/3*1e9", "=1e15+0.5", "=2^60"];

let stack: Stack;

describe.skipIf(!HAS_STACK)("displayed texts of a real stack", () => {
  beforeAll(async () => {
    stack = await startStack();
  }, 30_000);
  afterAll(async () => stack.stop());

  it("are those of the command, for every format", async () => {
    const spreadsheet = await stack.create("formats");
    const cells: unknown[] = [];
    FORMATS.forEach((format, row) => {
      VALUES.forEach((value, column) => cells.push({ row, column, value, format }));
      FORMULAS.forEach((formula, index) => cells.push({ row, column: VALUES.length + index, formula, format }));
    });
    const headers = { authorization: `Bearer ${stack.token}`, "content-type": "application/json" };
    const mutations = [{ id: 1, base: 0, op: { setCells: { sheet: 0, cells } } }];
    const body = JSON.stringify({ client_id: "formats", incarnation: 0, acked_id: 0, mutations });
    const reply = await fetch(`${stack.url}/v1/spreadsheets/${spreadsheet}/entries`, { method: "POST", headers, body });
    expect(reply.status).toBe(200);
    const window = { firstRow: 0, rowCount: 60, firstColumn: 0, columnCount: 30 };
    const sheet = await support.open(stack, spreadsheet);
    sheet.request(window);
    await support.until(() => support.isAllLoaded(sheet, window), "all is loaded");
    const printed = JSON.parse(await stack.cellar("get", "A1:AD60", "--json", "--remote", "-s", spreadsheet)) as {
      cells: { row: number; column: number }[];
      texts: string[];
    };
    expect(printed.cells).toHaveLength(cells.length);
    const differences = printed.cells.flatMap(({ row, column }, index) => {
      const [text, cell] = [printed.texts[index], sheet.cellAt(row, column)];
      return cell?.text === text ? [] : [`${FORMATS[row]} of ${JSON.stringify(cell?.value)}: ${cell?.text} instead of ${text}`];
    });
    expect(differences).toEqual([]);
    sheet.close();
  });
});
