/** Sends a batch of one client's edits, and says what to do next. */

import type { Api } from "./api";
import { isBaseLost, isPermanent, ProblemError } from "./api-error";
import { MalformedReply } from "./decode";
import { MAX_MUTATIONS_PER_REQUEST, MAX_REQUEST_BYTES } from "./limits";
import type { Step, StoredEdit } from "./outbox-store";
import type { MutationResult } from "./wire";

export type SendOutcome =
  | { kind: "answered"; results: MutationResult[] }
  /** Send the same edits again later. `isUncertain`: they may have been made. */
  | { kind: "retry"; isUncertain: boolean; error: unknown }
  /** The server will never accept these edits. */
  | { kind: "refused"; error: ProblemError }
  /** The base does not exist any more: a new client must make the edits again. */
  | { kind: "baseLost"; error: ProblemError };

/** The server computes an undo from the state before its request, which must contain nothing else. */
export function sendsAlone({ op }: StoredEdit): boolean {
  return typeof op === "object" && op !== null && "undo" in op;
}

function mayShareRequest(one: StoredEdit, other: StoredEdit): boolean {
  return one.group === other.group && !sendsAlone(one) && !sendsAlone(other);
}

/** Adds the answers to edits of a gesture, of which earlier ones may have been answered before. */
export function stepAfter(step: Step | undefined, results: readonly MutationResult[], group: string | undefined): Step {
  const positions = new Set(group !== undefined && step?.group === group ? step.positions : []);
  for (const { status, position } of results) {
    if (position !== undefined && status !== "rejected") positions.add(position);
  }
  return { group, positions: [...positions] };
}

/**
 * Returns the edits for the next request: the first ones, without a gap, of one incarnation. One
 * request makes one entry, so that a gesture of several edits shares no request with others.
 */
export function nextBatch(edits: readonly StoredEdit[]): StoredEdit[] {
  const batch: StoredEdit[] = [];
  let bytes = 0;
  for (const edit of edits) {
    const last = batch[batch.length - 1];
    const isNext = last === undefined || (edit.id === last.id + 1 && edit.incarnation === last.incarnation && mayShareRequest(last, edit));
    bytes += JSON.stringify(edit.op).length;
    const isFull = batch.length >= MAX_MUTATIONS_PER_REQUEST || (bytes > MAX_REQUEST_BYTES && batch.length > 0);
    if (!isNext || isFull) break;
    batch.push(edit);
  }
  return batch;
}

export async function sendBatch(
  api: Api,
  batch: readonly StoredEdit[],
  ackedId: number,
  signal?: AbortSignal,
): Promise<SendOutcome> {
  const [first] = batch;
  if (first === undefined) return { kind: "answered", results: [] };
  const mutations = batch.map(({ id, base, op }) => ({ id, base, op }));
  const request = { client_id: first.client, incarnation: first.incarnation, acked_id: ackedId, mutations };
  try {
    const reply = await api.append(request, signal);
    return { kind: "answered", results: resultsOf(batch, reply.results) };
  } catch (error) {
    return outcomeOf(error);
  }
}

function outcomeOf(error: unknown): SendOutcome {
  if (!(error instanceof ProblemError)) return { kind: "retry", isUncertain: true, error };
  if (isBaseLost(error)) return { kind: "baseLost", error };
  if (isPermanent(error)) return { kind: "refused", error };
  const MIN_SERVER_ERROR = 500;
  return { kind: "retry", isUncertain: error.status >= MIN_SERVER_ERROR, error };
}

/** Returns the results in the order of the edits. A reply that leaves one out proves nothing. */
function resultsOf(batch: readonly StoredEdit[], results: readonly MutationResult[]): MutationResult[] {
  const byId = new Map(results.map((result) => [result.id, result]));
  return batch.map(({ id }) => {
    const result = byId.get(id);
    if (result === undefined) throw new MalformedReply(`the reply has no result for edit ${id}`);
    return result;
  });
}
