/** Forks of a spreadsheet, and merges of a fork into its source. */

import { forkedOf, forksPageOf, mergeReportOf } from "./decode";
import { spreadsheetPath, type StackClient } from "./http";
import { sendRepeatedly } from "./repeat";
import type { Forked, ForkListed, MergeCounts, MergeReport, PositionOrTime } from "./types";

export interface ForkToCreate {
  /** Position of the last shared entry; by default the newest. */
  at?: PositionOrTime | undefined;
  /** By default, `Fork of` and the name of the source. */
  name?: string | undefined;
}

/** A repeated call with the same nonce returns the same fork. */
export async function createFork(
  stack: StackClient,
  id: string,
  { at, name }: ForkToCreate,
  nonce: string = crypto.randomUUID(),
): Promise<Forked> {
  const path = spreadsheetPath(id, "/forks");
  return sendRepeatedly(stack, { path, body: { nonce, at, name }, decode: forkedOf });
}

export interface ForkList {
  forks: ForkListed[];
  /** Whether there are more forks than were read. */
  isTruncated: boolean;
}

/** Lists the forks that the caller may see, oldest first. */
export async function listForks(stack: StackClient, id: string, signal?: AbortSignal): Promise<ForkList> {
  const MAX_PAGES = 20;
  const forks: ForkListed[] = [];
  let cursor: number | undefined;
  for (let count = 0; count < MAX_PAGES; count += 1) {
    const path = spreadsheetPath(id, "/forks");
    const page = await sendRepeatedly(stack, { path, query: { cursor }, decode: forksPageOf, signal });
    forks.push(...page.forks);
    if (page.next === undefined) return { forks, isTruncated: false };
    cursor = page.next;
  }
  return { forks, isTruncated: true };
}

/** Says what a merge would do, without changing anything. */
export async function previewMerge(
  stack: StackClient,
  source: string,
  fork: string,
  signal?: AbortSignal,
): Promise<MergeReport> {
  return mergeOnce(stack, source, { fork, dry_run: true }, signal);
}

interface MergeBody {
  fork: string;
  through?: number;
  dry_run?: boolean;
}

async function mergeOnce(
  stack: StackClient,
  source: string,
  body: MergeBody,
  signal: AbortSignal | undefined,
): Promise<MergeReport> {
  return sendRepeatedly(stack, { path: spreadsheetPath(source, "/merges"), body, decode: mergeReportOf, signal });
}

/** A request merges up to 100 edits, so this bounds a merge to 100,000 edits. */
const MAX_REQUESTS = 1_000;

/** Appends the edits of a fork up to `through`. `onProgress` gets the number of edits that remain. */
export async function merge(
  stack: StackClient,
  source: string,
  { fork, through }: { fork: string; through: number },
  onProgress: (remaining: number) => void = () => undefined,
): Promise<MergeReport> {
  let total: MergeReport | undefined;
  for (let count = 0; count < MAX_REQUESTS; count += 1) {
    const report = await mergeOnce(stack, source, { fork, through }, undefined);
    total = total === undefined ? report : joinReports(total, report);
    onProgress(report.remaining);
    if (report.remaining === 0) break;
  }
  if (total === undefined) throw new Error("the merge sent no request");
  return total;
}

function joinReports(earlier: MergeReport, later: MergeReport): MergeReport {
  const counts: MergeCounts = { ...earlier.counts };
  for (const name of Object.keys(counts) as (keyof MergeCounts)[]) counts[name] += later.counts[name];
  const mergedAs = later.mergedAs ?? earlier.mergedAs;
  const joined: MergeReport = { ...later, from: earlier.from, counts, edits: earlier.edits.concat(later.edits) };
  return mergedAs === undefined ? joined : { ...joined, mergedAs };
}
