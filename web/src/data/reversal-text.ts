/** What an undo or redo did, for the user. */

import type { MutationResult } from "./wire";

export type Verb = "undo" | "redo";

type Counts = Record<string, number>;

/** `answers` are those to the parts of one gesture. */
export function reversalText(verb: Verb, answers: readonly MutationResult[]): string {
  const refusals = answers.flatMap(({ rejection }) => rejection ?? []);
  const [refusal] = refusals;
  if (refusal !== undefined && refusals.length === answers.length) return refusal;
  const [done, participle] = verb === "undo" ? ["Undid", "undone"] : ["Redid", "redone"];
  const text = `${done} ${countsText(sumOf(answers, "restored"))}${keptText(sumOf(answers, "left"))}`;
  return refusal === undefined ? text : `${text}; ${refusals.length} of ${answers.length} parts not ${participle}: ${refusal}`;
}

function sumOf(answers: readonly MutationResult[], field: "restored" | "left"): Counts {
  const sum: Counts = {};
  for (const { reversal } of answers) {
    for (const [name, count] of Object.entries(reversal?.[field] ?? {})) sum[name] = (sum[name] ?? 0) + count;
  }
  return sum;
}

function countsText(counts: Counts): string {
  const parts = Object.entries(counts).filter(([, count]) => count > 0);
  if (parts.length === 0) return "an edit";
  return parts.map(([name, count]) => `${count} ${nameText(name, count)}`).join(", ");
}

function nameText(name: string, count: number): string {
  const text = name.replace("_", " ");
  return count === 1 ? text.replace(/s$/, "") : text;
}

function keptText(counts: Counts): string {
  const isAny = Object.values(counts).some((count) => count > 0);
  return isAny ? `; ${countsText(counts)} changed since and kept` : "";
}
