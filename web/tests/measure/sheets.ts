/** The sheets that are measured. */

import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Stack } from "../stack";

export const COLUMNS = 10;

/** Imports a sheet of numbers and texts that differ in every row. Returns the id of the spreadsheet. */
export async function importLargeSheet(stack: Stack, rows: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "cellar-measure-"));
  const path = join(folder, "large.csv");
  await pipeline(Readable.from(lines(rows)), createWriteStream(path));
  const output = JSON.parse(await stack.cellar("import", path, "--json")) as { spreadsheet?: string; id?: string };
  await rm(folder, { recursive: true });
  const id = output.spreadsheet ?? output.id;
  if (id === undefined) throw new Error(`the import printed no spreadsheet: ${JSON.stringify(output)}`);
  return id;
}

function* lines(rows: number): Generator<string> {
  for (let row = 1; row <= rows; row++) {
    const cells = Array.from({ length: COLUMNS - 2 }, (_, column) => ((row * 7_919 + column * 104_729) % 1_000_003) / 100);
    yield `${row},station ${row % 9_973},${cells.join(",")}\n`;
  }
}
