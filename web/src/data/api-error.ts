/** The errors of a request, by what the caller can do about them. */

import { fieldsOf, integerOf, textOf } from "./decode";

/** The server answered with a problem document (RFC 9457). */
export class ProblemError extends Error {
  override readonly name = "ProblemError";

  constructor(
    /** The last part of the problem type, such as `mutation-gap`. */
    readonly problem: string,
    readonly status: number,
    readonly detail: string,
    /** How long the server asks to wait before another attempt. */
    readonly retryAfterMs: number | null,
  ) {
    super(detail);
  }
}

/** The server did not answer, or not in time. The request may have had its effect. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
}

/** The caller ended the request. */
export class AbortedError extends Error {
  override readonly name = "AbortedError";
}

const PROBLEM_PREFIX = "urn:cellar:problem:";

function retryAfterMs(response: Response): number | null {
  const MAX_WAIT_S = 300;
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return seconds >= 0 && seconds <= MAX_WAIT_S ? seconds * 1_000 : null;
}

/** Reads a problem document. A proxy may answer with something else, such as a page. */
export async function problemOf(response: Response): Promise<ProblemError> {
  const waitMs = retryAfterMs(response);
  try {
    const fields = fieldsOf(await response.json(), "a problem");
    const type = textOf(fields.type, "the type of a problem");
    const kind = type.startsWith(PROBLEM_PREFIX) ? type.slice(PROBLEM_PREFIX.length) : "unknown";
    const status = integerOf(fields.status ?? response.status, "the status of a problem");
    return new ProblemError(kind, status, textOf(fields.detail ?? fields.title, "the detail"), waitMs);
  } catch {
    const detail = `the server answered with status ${response.status}`;
    return new ProblemError("unknown", response.status, detail, waitMs);
  }
}

/** Returns whether the same request may succeed soon. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ProblemError) return error.status >= 500 && error.status !== 507 || error.status === 429;
  return error instanceof UnreachableError;
}

/** Returns whether the server would refuse the same edits for ever. */
export function isPermanent(error: ProblemError): boolean {
  const kinds = [
    "bad-request",
    "too-large",
    "invalid-request",
    "unknown-position",
    "unsupported-media-type",
    "mutation-overlap",
  ];
  return kinds.includes(error.problem);
}

/** Returns whether the base of the edits no longer exists, so that a new client must begin. */
export function isBaseLost(error: ProblemError): boolean {
  return ["unknown-base", "mutation-gap", "reload-required"].includes(error.problem);
}

/** Returns whether the caller may not read the spreadsheet any more. */
export function isRefusal(error: ProblemError): boolean {
  return ["forbidden", "invalid-link", "not-found", "deleted"].includes(error.problem);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
