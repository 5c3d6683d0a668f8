/** Errors of objects of snapshots: tiles, indexes and roots. */

export type FormatProblem =
  /** The bytes are not as the format says. */
  | "malformed"
  /** A later version of the format, which this reader does not know. */
  | "version"
  /** More than a limit of the format. */
  | "limit"
  /** The bytes are not those that the hash names. */
  | "hash";

export class FormatError extends Error {
  override readonly name = "FormatError";

  constructor(
    readonly problem: FormatProblem,
    message: string,
  ) {
    super(message);
  }
}

export function malformed(message: string): FormatError {
  return new FormatError("malformed", message);
}

/** Details of the damage are not needed: the object is loaded again, or the server is asked. */
export function damagedFrame(): FormatError {
  return malformed("a zstd frame is damaged");
}

/** Returns `value` if it is at most `max`. */
export function atMost(value: number, max: number, what: string): number {
  if (value > max) throw new FormatError("limit", `${what} is ${value}; at most ${max} is allowed`);
  return value;
}

export function tooLarge(bytes: number, limit: number): FormatError {
  return new FormatError("limit", `an object has ${bytes} bytes; at most ${limit} are allowed`);
}
