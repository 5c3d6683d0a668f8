/** Names of objects: BLAKE3 hashes of their bytes before compression. */

import { blake3 } from "@noble/hashes/blake3.js";
import { FormatError } from "./format-error";

export const HASH_PATTERN = /^[0-9a-f]{64}$/;

export function hexadecimal(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function hashOf(bytes: Uint8Array): string {
  return hexadecimal(blake3(bytes));
}

export function requireHash(bytes: Uint8Array, hash: string): void {
  const actual = hashOf(bytes);
  if (actual !== hash) throw new FormatError("hash", `the object ${hash} has the bytes of ${actual}`);
}
