/** Starts a stack with a large sheet, runs the measurements, and prints them. */

import { writeFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { chromium, type Browser } from "playwright-core";
import { startSite } from "../browser/site";
import { startStack } from "../stack";
import { MEASUREMENTS, type World } from "./measurements";
import { machineOf, report, type Result } from "./report";
import { importLargeSheet } from "./sheets";

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
/** A load above this share of the cores means that other programs run. */
const IDLE_LOAD = 0.25;

/** Returns the exit code: 1 if a target is missed, 2 if the numbers are no results. */
export async function main(parameters: string[]): Promise<number> {
  const { values } = parseArgs({
    args: parameters,
    options: { quick: { type: "boolean", default: false }, only: { type: "string" }, json: { type: "string" } },
  });
  const machine = machineOf();
  const isBusy = loadavg()[0]! > IDLE_LOAD * machine.cores;
  if (isBusy) console.error(`the machine is busy (load ${loadavg()[0]!.toFixed(1)}): these numbers are not results`);
  if (values.quick) console.error("--quick measures a small sheet a few times: these numbers are not results");
  const results = await measureAll(values.quick, values.only);
  const record = { ...machine, isBusy, isQuick: values.quick, results };
  console.log(report(record));
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(record, null, 2)}\n`);
  if (isBusy || values.quick) return 2;
  return results.every(({ isMet }) => isMet) ? 0 : 1;
}

async function measureAll(isQuick: boolean, only: string | undefined): Promise<Result[]> {
  const stack = await startStack();
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info"] });
  const site = await startSite(stack.url, { isPageOfStack: process.env["CELLAR_PAGE"] === "stack" });
  try {
    const world = await prepare({ stack, browser, url: site.url, isQuick });
    const results: Result[] = [];
    for (const measurement of MEASUREMENTS) {
      if (only !== undefined && !measurement.name.includes(only)) continue;
      console.error(`measuring: ${measurement.name}`);
      results.push(await measurement.run(world));
    }
    return results;
  } finally {
    await browser.close();
    await site.close();
    await stack.stop();
  }
}

async function prepare(base: Omit<World, "large" | "small"> & { browser: Browser }): Promise<World> {
  const small = await base.stack.create("small");
  await base.stack.cellar("set", "-s", small, "A1", "first", "B1", "1250.00");
  console.error("importing the large sheet");
  const large = await importLargeSheet(base.stack, base.isQuick ? 20_000 : 1_000_000);
  return { ...base, small, large };
}
