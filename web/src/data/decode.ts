/**
 * Checks of values that came from outside. A value that is not as described becomes a
 * `MalformedReply`, never a surprise in code that trusts the types.
 */

import type { CellValue } from "./types";

export class MalformedReply extends Error {
  override readonly name = "MalformedReply";
}

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown, what: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new MalformedReply(`${what} is not an object`);
  }
  return value as Fields;
}

export function listOf<T>(value: unknown, what: string, decode: (item: unknown) => T): T[] {
  if (!Array.isArray(value)) throw new MalformedReply(`${what} is not a list`);
  return value.map(decode);
}

/** Decodes a list that may be absent. */
export function optionalList<T>(value: unknown, what: string, decode: (item: unknown) => T): T[] {
  return value === undefined || value === null ? [] : listOf(value, what, decode);
}

export function integerOf(value: unknown, what: string, max = Number.MAX_SAFE_INTEGER): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0 || value > max) {
    throw new MalformedReply(`${what} is not an integer from 0 to ${max}`);
  }
  return value;
}

export function optionalInteger(value: unknown, what: string): number | undefined {
  return value === undefined || value === null ? undefined : integerOf(value, what);
}

export function textOf(value: unknown, what: string): string {
  if (typeof value !== "string") throw new MalformedReply(`${what} is not a text`);
  return value;
}

export function optionalText(value: unknown, what: string): string | undefined {
  return value === undefined || value === null ? undefined : textOf(value, what);
}

export function cellValueOf(value: unknown): CellValue {
  if (value === undefined || value === null) return null;
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  return { error: textOf(fieldsOf(value, "a cell value").error, "an error value") };
}

export function oneOf<T extends string>(value: unknown, allowed: readonly T[], what: string): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw new MalformedReply(`${what} is not one of ${allowed.join(", ")}`);
  return found;
}

/** Copies the fields that are set, so that absent fields stay absent. */
export function withoutAbsent<T extends object>(fields: { [K in keyof T]: T[K] | undefined }): T {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as T;
}
