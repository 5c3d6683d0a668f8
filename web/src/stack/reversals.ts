/**
 * Undoes an entry, and reverts to a position. The server resolves both when it appends them, so a
 * reversal gets a client of its own, as in the Rust client. A repeated request changes nothing more.
 */

import { ProblemError } from "../data/api-error";
import { MalformedReply } from "../data/decode";
import { appendResultOf } from "./decode-cells";
import { readSheets } from "./history";
import { spreadsheetPath, type StackClient } from "./http";
import type { Operation } from "./operations";
import { sendRepeatedly } from "./repeat";
import type { AppendResult, Reversal } from "./types";

export type ReversalOperation =
  | { undo: { position: number } }
  | { revert: { position: number; sheet?: number } };

export type ReversalOutcome =
  | {
      kind: "done";
      /** Position of the entry that reverses. Absent if the reply to the first attempt was lost. */
      position?: number;
      /** Absent if the reply to the first attempt was lost. */
      reversal?: Reversal;
      committed: Operation[];
    }
  | { kind: "nothing"; why: string };

export async function undoEntry(stack: StackClient, id: string, position: number): Promise<ReversalOutcome> {
  return reverse(stack, id, { undo: { position } });
}

/** Reverts all sheets, or only one. */
export async function revertTo(
  stack: StackClient,
  id: string,
  position: number,
  sheet?: number,
): Promise<ReversalOutcome> {
  return reverse(stack, id, { revert: sheet === undefined ? { position } : { position, sheet } });
}

async function reverse(stack: StackClient, id: string, op: ReversalOperation): Promise<ReversalOutcome> {
  const { position: base, incarnation } = await readSheets(stack, id);
  const body = {
    client_id: `page-${crypto.randomUUID()}`,
    incarnation,
    acked_id: 0,
    mutations: [{ id: 1, base, op }],
    refuse_unchanged: true,
  };
  try {
    const path = spreadsheetPath(id, "/entries");
    return outcomeOf(await sendRepeatedly(stack, { path, body, decode: appendResultOf }));
  } catch (error) {
    if (error instanceof ProblemError && error.problem === "nothing-to-reverse") {
      return { kind: "nothing", why: error.detail };
    }
    throw error;
  }
}

function outcomeOf({ results }: AppendResult): ReversalOutcome {
  const [result] = results;
  if (result === undefined) throw new MalformedReply("the reply has no result of the reversal");
  if (result.status === "rejected") return { kind: "nothing", why: result.rejection?.detail ?? "it was rejected" };
  const { position, reversal, committed = [] } = result;
  return {
    kind: "done",
    committed,
    ...(position === undefined ? {} : { position }),
    ...(reversal === undefined ? {} : { reversal }),
  };
}
