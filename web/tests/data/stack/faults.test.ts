import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSheet, type OpenedSheet } from "../../../src/data/index";
import { FaultProxy, NO_FAULTS, OFFLINE, randomFaults } from "../../fault-proxy";
import { HAS_STACK, startStack, type Stack } from "../../stack";
import { SeededRandom } from "../random";
import * as support from "./support";

const EDITS = 60;
const ROWS = 12;
const COLUMNS = 4;

let stack: Stack;

/** More seeds for a longer run: `CELLAR_SEEDS=1-50`. */
const [FIRST_SEED = 1, LAST_SEED = 3] = (process.env["CELLAR_SEEDS"] ?? "1-3").split("-").map(Number);
const SEEDS = Array.from({ length: LAST_SEED - FIRST_SEED + 1 }, (_, index) => FIRST_SEED + index);

/** Makes one random edit. */
function edit(sheet: OpenedSheet, random: SeededRandom, name: string): void {
  const [row, column] = [random.below(ROWS), random.below(COLUMNS)];
  const kind = random.below(10);
  if (kind === 0) sheet.insertRows(row, 1 + random.below(2));
  else if (kind === 1) sheet.deleteRows(row, 1);
  else if (kind === 2) sheet.insertColumns(column, 1);
  else if (kind === 3) sheet.deleteColumns(column, 1);
  else if (kind === 4) sheet.setCells([{ row, column, input: `=A${1 + random.below(ROWS)}&"!"` }]);
  else sheet.setCells([{ row, column, input: name }, { row, column: column + 1, input: String(random.below(1_000)) }]);
}

interface LoggedMutation {
  id: number;
  op: unknown;
}

/** Returns the mutations of each client in the order of the log. */
async function mutationsByClient(spreadsheet: string): Promise<LoggedMutation[][]> {
  const clients = new Map<string, LoggedMutation[]>();
  let after: number | undefined = 0;
  while (after !== undefined) {
    const url: string = `${stack.url}/v1/spreadsheets/${spreadsheet}/entries?after=${after}`;
    const reply = await fetch(url, { headers: { authorization: `Bearer ${stack.token}` } });
    const page = (await reply.json()) as { entries: { client_key: string; mutations: LoggedMutation[] }[]; next?: number };
    for (const { client_key: key, mutations = [] } of page.entries) {
      clients.set(key, [...(clients.get(key) ?? []), ...mutations]);
    }
    after = page.next;
  }
  return [...clients.values()];
}

describe.skipIf(!HAS_STACK)("three clients over a proxy that makes faults", () => {
  beforeAll(async () => {
    stack = await startStack();
  }, 30_000);
  afterAll(async () => stack.stop());

  it.each(SEEDS)("converge with each other and with the command, each edit once and in order: seed %i", async (seed) => {
    const spreadsheet = await stack.create(`faults ${seed}`);
    const proxy = await FaultProxy.start(stack.url);
    const { url } = proxy;
    const faulty = randomFaults(seed);
    proxy.plan = faulty;
    const random = new SeededRandom(seed);
    const open = () => openSheet({ url, spreadsheet, getToken: () => stack.token });
    const sheets = await Promise.all([open(), open(), open()]);
    for (const sheet of sheets) sheet.request(support.WINDOW);
    await support.until(() => sheets.every((sheet) => sheet.sheets.length === 1), "all are open", 30_000);
    const made = [0, 0, 0];
    for (let step = 0; step < EDITS; step += 1) {
      const index = random.below(sheets.length);
      const sheet = sheets[index] as OpenedSheet;
      const before = sheet.status.pending;
      edit(sheet, random, `c${index} e${step}`);
      // An edit of a row whose deletion is being stored has no effect and is not made.
      made[index] = (made[index] ?? 0) + sheet.status.pending - before;
      if (random.below(4) === 0) sheets[random.below(sheets.length)]?.refresh();
      await new Promise((resolve) => setTimeout(resolve, random.below(40)));
      if (step === EDITS / 2) proxy.plan = OFFLINE;
      if (step === EDITS / 2 + 10) proxy.plan = faulty;
    }
    const faults = Object.entries(proxy.counts).filter(([kind, count]) => kind !== "none" && count > 0);
    expect(faults.length).toBeGreaterThan(3);
    proxy.plan = NO_FAULTS;
    await support.settle(stack, spreadsheet, sheets, 60_000);
    const cells = await support.expectSame(stack, spreadsheet, sheets);
    expect(cells.length).toBeGreaterThan(0);
    const logged = await mutationsByClient(spreadsheet);
    for (const mutations of logged) expect(mutations.map(({ id }) => id)).toEqual(mutations.map((_, index) => index + 1));
    const names = logged.map((mutations) => mutations.flatMap(({ op }) => /c\d e\d+/.exec(JSON.stringify(op)) ?? []).map(String));
    for (const own of names) {
      const numbers = own.map((name) => Number(name.split("e")[1]));
      expect(numbers).toEqual([...new Set(numbers)].sort((left, right) => left - right));
    }
    expect(logged.map((mutations) => mutations.length).sort()).toEqual([...made].sort());
    for (const sheet of sheets) {
      expect((await sheet.unsentEdits()).setAside).toEqual([]);
      sheet.close();
    }
    await proxy.close();
  }, 120_000);
});
