/** Stored objects: one zstd frame each, which declares the size of its content. */

import { decompress } from "fzstd";
import * as bounds from "./bounds";
import { FormatError, malformed } from "./format-error";
import { requireHash } from "./hash";

const MAGIC = [0x28, 0xb5, 0x2f, 0xfd] as const;
const MAX_BLOCK_BYTES = 2 ** 17;
const CHECKSUM_BYTES = 4;

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
export function unpack(bytes: Uint8Array, hash: string, limits: ObjectBounds): Uint8Array {
  const plain = isFrame(bytes) ? decompressFrame(bytes, limits) : bytes;
  if (plain.length > limits.plainBytes) throw tooLarge(plain.length, limits.plainBytes);
  requireHash(plain, hash);
  return plain;
}

function isFrame(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, index) => bytes[index] === byte);
}

export function decompressFrame(bytes: Uint8Array, { storedBytes, plainBytes }: ObjectBounds): Uint8Array {
  if (bytes.length > storedBytes) throw tooLarge(bytes.length, storedBytes);
  const { contentBytes, headerBytes, hasChecksum, windowBytes } = readHeader(bytes);
  if (contentBytes > plainBytes) throw tooLarge(contentBytes, plainBytes);
  if (windowBytes > bounds.MAX_WINDOW_BYTES) throw tooLarge(windowBytes, bounds.MAX_WINDOW_BYTES);
  checkBlocks(bytes, headerBytes, hasChecksum, Math.min(windowBytes, MAX_BLOCK_BYTES));
  const plain = new Uint8Array(contentBytes);
  try {
    decompress(bytes, plain);
  } catch (error) {
    throw malformed(`a zstd frame is damaged: ${error instanceof Error ? error.message : "unknown"}`);
  }
  return plain;
}

interface FrameHeader {
  contentBytes: number;
  windowBytes: number;
  headerBytes: number;
  hasChecksum: boolean;
}

/** Reads the header of a frame, as RFC 8878 describes it. */
function readHeader(bytes: Uint8Array): FrameHeader {
  if (!isFrame(bytes)) throw malformed("the bytes are no zstd frame");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const descriptor = bytes[MAGIC.length] ?? 0;
  const isSingleSegment = (descriptor & 32) !== 0;
  const sizeCode = descriptor >> 6;
  if ((descriptor & 3) !== 0) throw malformed("a zstd frame needs a dictionary");
  if ((descriptor & 8) !== 0) throw malformed("a zstd frame has an unknown flag");
  if (sizeCode === 0 && !isSingleSegment) throw malformed("a zstd frame does not declare the size of its content");
  const sizeAt = MAGIC.length + (isSingleSegment ? 1 : 2);
  const headerBytes = sizeAt + 2 ** sizeCode;
  if (headerBytes > bytes.length) throw malformed("a zstd frame ends in its header");
  const contentBytes = contentSize(view, sizeAt, sizeCode);
  const windowBytes = isSingleSegment ? contentBytes : windowSize(bytes[MAGIC.length + 1] ?? 0);
  return { contentBytes, windowBytes, headerBytes, hasChecksum: (descriptor & 4) !== 0 };
}

function contentSize(view: DataView, at: number, code: number): number {
  if (code === 0) return view.getUint8(at);
  if (code === 1) return view.getUint16(at, true) + 256;
  if (code === 2) return view.getUint32(at, true);
  // The number may be inexact, but then it is above every limit.
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
}

function windowSize(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

/** Checks that the blocks end where the bytes end, because the decoder does not. */
function checkBlocks(bytes: Uint8Array, start: number, hasChecksum: boolean, maxBlockBytes: number): void {
  const REPEATED = 1;
  const RESERVED = 3;
  let at = start;
  for (let isLast = false; !isLast; ) {
    if (at + 3 > bytes.length) throw malformed("a zstd frame has no last block");
    const header = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
    const [kind, size] = [(header >> 1) & 3, header >> 3];
    if (kind === RESERVED) throw malformed("a zstd block has an unknown kind");
    if (size > maxBlockBytes) throw malformed(`a zstd block has ${size} bytes`);
    at += 3 + (kind === REPEATED ? 1 : size);
    isLast = (header & 1) === 1;
  }
  if (at + (hasChecksum ? CHECKSUM_BYTES : 0) !== bytes.length) throw malformed("bytes follow a zstd frame");
}

function tooLarge(bytes: number, limit: number): FormatError {
  return new FormatError("limit", `an object has ${bytes} bytes; at most ${limit} are allowed`);
}
