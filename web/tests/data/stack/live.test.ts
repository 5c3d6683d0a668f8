import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { OpenedSheet } from "../../../src/data/index";
import { FaultProxy, NO_FAULTS, OFFLINE } from "../../fault-proxy";
import { HAS_STACK, startStack, type Stack } from "../../stack";
import * as support from "./support";

let stack: Stack;
let proxy: FaultProxy;
let url: string;
const opened: OpenedSheet[] = [];

async function open(spreadsheet: string): Promise<OpenedSheet> {
  const sheet = await support.open(stack, spreadsheet, { url });
  opened.push(sheet);
  return sheet;
}

/** Returns after how many milliseconds the text is shown. */
async function shownAfterMs(sheet: OpenedSheet, text: string, waitMs: number): Promise<number> {
  const startMs = performance.now();
  await support.until(() => sheet.cellAt(0, 0)?.text === text, `${text} is shown`, waitMs);
  return performance.now() - startMs;
}

const QUIET_MS = 9_000;
const POKE_WAIT_MS = 2_500;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe.skipIf(!HAS_STACK)("edits of others on a real stack", () => {
  beforeAll(async () => {
    stack = await startStack();
    proxy = await FaultProxy.start(stack.url);
    url = proxy.url;
  }, 30_000);
  afterAll(async () => {
    await proxy.close();
    await stack.stop();
  });
  afterEach(() => {
    for (const sheet of opened.splice(0)) sheet.close();
  });

  it("are shown at once, not at the next poll", async () => {
    const spreadsheet = await stack.create("pokes");
    const [reader, writer] = [await open(spreadsheet), await open(spreadsheet)];
    // By then, the next poll is further away than the wait below.
    await pause(QUIET_MS);
    for (let round = 0; round < 5; round += 1) {
      writer.setCells([{ row: 0, column: 0, input: `round ${round}` }]);
      await shownAfterMs(reader, `round ${round}`, round === 0 ? POKE_WAIT_MS : 5_000);
    }
  });

  it("are not missed while the stream is cut or the network is away", async () => {
    const spreadsheet = await stack.create("cut");
    const reader = await open(spreadsheet);
    await pause(200);
    proxy.cutConnections();
    await stack.cellar("set", "A1", "after the cut", "-s", spreadsheet);
    await shownAfterMs(reader, "after the cut", 4_000);
    proxy.plan = OFFLINE;
    proxy.cutConnections();
    for (const text of ["one", "two", "three"]) await stack.cellar("set", "A1", text, "B2", text, "-s", spreadsheet);
    await pause(300);
    proxy.plan = NO_FAULTS;
    await shownAfterMs(reader, "three", 15_000);
    await support.expectSame(stack, spreadsheet, [reader]);
    await pause(2_500);
    await stack.cellar("set", "A1", "live again", "-s", spreadsheet);
    expect(await shownAfterMs(reader, "live again", 5_000)).toBeLessThan(1_000);
  }, 60_000);
});
