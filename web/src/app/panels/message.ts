/** Errors as sentences for the user: what is wrong, and what to do. */

import { ProblemError, UnreachableError } from "../../data/api-error";
import { MalformedReply } from "../../data/decode";
import { withPlainQuotes } from "../../stack/plain-text";

const ADVICE: Record<string, string> = {
  unauthorized: "Sign in again.",
  forbidden: "Ask an owner for the role that this needs.",
  archived: "An owner can unarchive it.",
  deleted: "An owner can undelete it within 30 days.",
  "precondition-failed": "Somebody else changed it. Check it, then try again.",
};

export function messageOfError(error: unknown): string {
  if (error instanceof UnreachableError) return "The stack does not respond. Check the network, then try again.";
  if (error instanceof MalformedReply) return `The stack sent a reply that this page does not understand: ${error.message}.`;
  if (error instanceof ProblemError) {
    const advice = ADVICE[error.problem];
    const detail = sentence(withPlainQuotes(error.detail));
    return advice === undefined ? detail : `${detail} ${advice}`;
  }
  return sentence(error instanceof Error ? error.message : String(error));
}

export function sentence(text: string): string {
  const capitalized = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capitalized) ? capitalized : `${capitalized}.`;
}
