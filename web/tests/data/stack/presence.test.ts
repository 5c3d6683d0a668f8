import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { OpenedSheet, SheetRange } from "../../../src/data/index";
import { HAS_STACK, startStack, type Stack } from "../../stack";
import * as support from "./support";

const AGE_MS = 45_000;

let stack: Stack;
const opened: OpenedSheet[] = [];
/** Answered requests for presence, as method and spreadsheet. */
const requests: string[] = [];

const countedFetch: typeof fetch = async (input, init) => {
  const reply = await fetch(input, init);
  if (String(input).includes("/presence")) requests.push(`${init?.method} ${String(input).replace(/\?.*/, "").split("/").at(-2)}`);
  return reply;
};

async function open(spreadsheet: string, subject?: string): Promise<OpenedSheet> {
  const token = subject === undefined ? stack.token : await stack.tokenOf(subject);
  const sheet = await support.open(stack, spreadsheet, { getToken: () => token, fetch: countedFetch });
  opened.push(sheet);
  return sheet;
}

async function shared(name: string): Promise<string> {
  const spreadsheet = await stack.create(name);
  await stack.cellar("set", "A1", "first", "-s", spreadsheet);
  for (const subject of ["ada", "grace"]) await stack.cellar("share", subject, "--role", "editor", "-s", spreadsheet);
  return spreadsheet;
}

const at = (row: number, column = 1, sheet = 0): SheetRange => ({ sheet, firstRow: row, rowCount: 1, firstColumn: column, columnCount: 1 });
const place = ({ sheet, firstRow, rowCount, firstColumn, columnCount }: SheetRange): SheetRange => ({ sheet, firstRow, rowCount, firstColumn, columnCount });
const places = (sheet: OpenedSheet) => (sheet.others ?? []).map(place);
const sees = (sheet: OpenedSheet, ...expected: SheetRange[]) => expect.poll(() => places(sheet), { timeout: 8_000 }).toEqual(expected);

describe.skipIf(!HAS_STACK)("presence on a real stack", { timeout: 30_000 }, () => {
  beforeAll(async () => {
    stack = await startStack();
  }, 30_000);
  afterAll(() => stack.stop());
  afterEach(() => {
    for (const sheet of opened.splice(0)) sheet.close();
  });

  it("shows who has selected what, follows it, and ends when the page is closed", async () => {
    const spreadsheet = await shared("two people");
    const [ada, grace] = [await open(spreadsheet, "ada"), await open(spreadsheet, "grace")];
    const changes: string[] = [];
    grace.subscribe(({ kind }) => changes.push(kind));
    ada.announce?.(at(2));
    await support.until(() => requests.includes(`PUT ${spreadsheet}`), "an announcement");
    grace.announce?.(at(4));
    await sees(grace, at(2));
    expect(grace.others?.[0]?.author).toBe("ada");
    expect(changes).toContain("others");
    const { moves } = grace.others![0]!;
    ada.announce?.({ ...at(7), rowCount: 3 });
    // Ada counted as alone until this announcement, and is heard at most every 30 seconds then, unless she edits.
    ada.setCells([{ row: 7, column: 1, input: "seven" }]);
    grace.setCells([{ row: 4, column: 1, input: "four" }]);
    await sees(ada, at(4));
    await sees(grace, { ...at(7), rowCount: 3 });
    expect(grace.others![0]!.moves).toBe(moves + 1);
    ada.close();
    await sees(grace);
  });

  it("moves selections with the rows and columns that a third client inserts and deletes", async () => {
    const spreadsheet = await shared("moved");
    const [ada, grace] = [await open(spreadsheet, "ada"), await open(spreadsheet, "grace")];
    ada.announce?.({ ...at(5), rowCount: 2 });
    await support.until(() => requests.includes(`PUT ${spreadsheet}`), "an announcement");
    grace.announce?.(at(9));
    await sees(grace, { ...at(5), rowCount: 2 });
    const { moves } = grace.others![0]!;
    await stack.cellar("rows", "insert", "2", "--count", "3", "-s", spreadsheet);
    await sees(grace, { ...at(8), rowCount: 2 });
    await stack.cellar("rows", "insert", "10", "-s", spreadsheet);
    await sees(grace, { ...at(8), rowCount: 3 });
    await stack.cellar("columns", "insert", "A", "-s", spreadsheet);
    await sees(grace, { ...at(8, 2), rowCount: 3 });
    // A pending row of this client also moves what is shown.
    grace.insertRows(0, 1);
    await sees(grace, { ...at(9, 2), rowCount: 3 });
    await support.settle(stack, spreadsheet, [ada, grace]);
    await sees(grace, { ...at(9, 2), rowCount: 3 });
    expect(grace.others![0]!.moves).toBe(moves);
    // A client that opens the spreadsheet now reads what it missed.
    const late = await open(spreadsheet);
    late.announce?.(at(0));
    await support.until(() => (late.others ?? []).some((other) => other.firstRow === 9 && other.rowCount === 3), "Ada is seen by the third client");
    await stack.cellar("rows", "delete", "8:14", "-s", spreadsheet);
    await sees(grace, at(0));
  });

  it("moves the announced selection itself, without another announcement", async () => {
    const spreadsheet = await shared("own");
    const [ada, grace] = [await open(spreadsheet, "ada"), await open(spreadsheet, "grace")];
    ada.announce?.(at(5));
    await support.until(() => requests.includes(`PUT ${spreadsheet}`), "an announcement");
    // As the grid reports a selection that has moved with its cells.
    ada.subscribe(({ kind }) => kind === "layout" && ada.announce?.(at(7)));
    ada.insertRows(0, 2);
    await support.settle(stack, spreadsheet, [ada, grace]);
    ada.announce?.(at(7));
    grace.announce?.(at(0));
    await sees(grace, at(7));
    expect(requests.filter((request) => request === `PUT ${spreadsheet}`)).toHaveLength(2);
  });

  it("ends for a client that is gone without a word", async () => {
    const spreadsheet = await shared("expired");
    const grace = await open(spreadsheet, "grace");
    const path = `${stack.url}/v1/spreadsheets/${spreadsheet}/presence`;
    const headers = { authorization: `Bearer ${await stack.tokenOf("ada")}`, "content-type": "application/json" };
    const selection = { sheet: 0, first_row: 3, last_row: 3, first_column: 1, last_column: 1, at: 0 };
    const startMs = Date.now();
    expect((await fetch(path, { method: "PUT", headers, body: JSON.stringify({ client_id: "gone", selection }) })).status).toBe(200);
    grace.announce?.(at(0));
    await sees(grace, at(3));
    await support.until(() => places(grace).length === 0, "the selection has ended", AGE_MS + 5_000);
    expect(Date.now() - startMs).toBeGreaterThan(AGE_MS - 1_500);
  }, 60_000);

  it("also shows viewers", async () => {
    const spreadsheet = await stack.create("viewer");
    await stack.cellar("share", "ada", "--role", "viewer", "-s", spreadsheet);
    const [ada, owner] = [await open(spreadsheet, "ada"), await open(spreadsheet)];
    ada.announce?.(at(1));
    await support.until(() => requests.includes(`PUT ${spreadsheet}`), "an announcement");
    owner.announce?.(at(2));
    await sees(owner, at(1));
  });
});
