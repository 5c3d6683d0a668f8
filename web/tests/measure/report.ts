/** Medians, percentiles and the table. */

import { arch, cpus, platform, totalmem } from "node:os";

export interface Result {
  name: string;
  unit: "ms" | "MB" | "";
  target: string;
  values: number[];
  isMet: boolean;
}

export interface Machine {
  date: string;
  processor: string;
  cores: number;
  memoryGiB: number;
  system: string;
}

const BYTES_PER_GIB = 2 ** 30;

export function machineOf(): Machine {
  return {
    date: new Date().toISOString(),
    processor: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / BYTES_PER_GIB),
    system: `${platform()} ${arch()}, Node ${process.version}`,
  };
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Returns the smallest value that at least this share of the values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export function report(record: Machine & { isBusy: boolean; isQuick: boolean; results: Result[] }): string {
  const { date, processor, cores, memoryGiB, system, isBusy, isQuick, results } = record;
  const notes = [isBusy ? "The machine was busy: not a result." : "", isQuick ? "Quick run: not a result." : ""];
  const rows = results.map(({ name, unit, target, values, isMet }) => [
    name, target, text(median(values), unit), text(percentile(values, 0.95), unit), String(values.length), isMet ? "yes" : "no",
  ]);
  const table = [["what", "target", "median", "p95", "times", "met"], ["---", "---", "---", "---", "---", "---"], ...rows];
  return [
    `${date}, ${processor}, ${cores} cores, ${memoryGiB} GiB, ${system}`,
    ...notes.filter((note) => note !== ""),
    "",
    ...table.map((cells) => `| ${cells.join(" | ")} |`),
  ].join("\n");
}

function text(value: number, unit: Result["unit"]): string {
  if (unit === "") return value === 1 ? "works" : "fails";
  return `${value < 100 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}
