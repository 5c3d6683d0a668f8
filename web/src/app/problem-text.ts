/** Problems as texts for the user: what is wrong, and what to do. */

import { ProblemError, UnreachableError } from "../data/api-error";
import { TitledProblem } from "../stack/http";
import { withPlainQuotes } from "../stack/plain-text";

export type ProblemAction = "sign-in" | "retry" | "list" | "undelete";

export interface ProblemText {
  title: string;
  detail: string;
  /** What the user can do about it. */
  advice: string;
  actions: ProblemAction[];
}

const ADVICE: Record<string, [advice: string, ...actions: ProblemAction[]]> = {
  unauthorized: ["Sign in again. Waiting edits are stored on this device and are sent afterwards.", "sign-in"],
  "invalid-link": ["Ask the person who sent it for a new share link, or sign in.", "sign-in"],
  forbidden: ["Ask an owner to share it with you, or sign in as another person.", "sign-in", "list"],
  "not-found": ["Check the address, or ask an owner to share it with you.", "list", "sign-in"],
  deleted: ["An owner can undelete it within 30 days.", "undelete", "list"],
  "unknown-position": ["Choose another position or time.", "list"],
};

export function problemText(error: unknown): ProblemText {
  if (error instanceof UnreachableError) {
    return {
      title: "The stack does not respond",
      detail: "Edits that wait are stored on this device, and are sent when the stack responds.",
      advice: "Check the network, then try again.",
      actions: ["retry"],
    };
  }
  if (error instanceof ProblemError) {
    const [advice = "Try again in a moment.", ...actions] = ADVICE[error.problem] ?? [];
    return {
      title: error instanceof TitledProblem ? error.title : "The stack reported a problem",
      detail: sentence(withPlainQuotes(error.detail)),
      advice,
      actions: actions.length === 0 ? ["retry"] : actions,
    };
  }
  const detail = error instanceof Error ? error.message : String(error);
  return { title: "Something is wrong", detail: sentence(detail), advice: "Try again in a moment.", actions: ["retry"] };
}

/** Returns the problem as one line, such as for a message below a field. */
export function problemLine(error: unknown): string {
  const { title, detail } = problemText(error);
  return `${title}: ${detail}`;
}

function sentence(text: string): string {
  // The first word may be a name, such as that of a file.
  const capitalized = /^[a-z]+\b(?![.-])/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return /[.!?]$/.test(capitalized) ? capitalized : `${capitalized}.`;
}
