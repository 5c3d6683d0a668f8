/** Stored objects: one zstd frame each, which declares the size of its content. */

import * as bounds from "./bounds";
import { tooLarge } from "./format-error";
import { requireHash } from "./hash";

export const MAGIC = [0x28, 0xb5, 0x2f, 0xfd] as const;

/** Limits of an object, as stored and before compression. */
export interface ObjectBounds {
  storedBytes: number;
  plainBytes: number;
}

export const CHUNK: ObjectBounds = { storedBytes: bounds.MAX_STORED_CHUNK_BYTES, plainBytes: bounds.MAX_CHUNK_BYTES };
export const ROOT: ObjectBounds = { storedBytes: bounds.MAX_STORED_ROOT_BYTES, plainBytes: bounds.MAX_ROOT_BYTES };

/**
 * Returns the content of an object, which has the hash. `bytes` may be decompressed already, as
 * browsers do it that know zstd: no object starts like a frame.
 */
export async function unpack(bytes: Uint8Array, hash: string, limits: ObjectBounds): Promise<Uint8Array> {
  const plain = isFrame(bytes) ? (await import("./frame")).decompressFrame(bytes, limits) : bytes;
  if (plain.length > limits.plainBytes) throw tooLarge(plain.length, limits.plainBytes);
  requireHash(plain, hash);
  return plain;
}

export function isFrame(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, index) => bytes[index] === byte);
}
