/** zstd frames, for browsers that do not decompress them, and for caches of older ones. Loaded when needed. */

import { MAX_WINDOW_BYTES } from "./bounds";
import { damagedFrame, malformed, tooLarge } from "./format-error";
import { isFrame, MAGIC, type ObjectBounds } from "./stored";
import { BlockReader, MAX_BLOCK_BYTES } from "./zstd";

const CHECKSUM_BYTES = 4;

export function decompressFrame(bytes: Uint8Array, { storedBytes, plainBytes }: ObjectBounds): Uint8Array {
  if (bytes.length > storedBytes) throw tooLarge(bytes.length, storedBytes);
  const { contentBytes, headerBytes, hasChecksum, windowBytes } = readHeader(bytes);
  if (contentBytes > plainBytes) throw tooLarge(contentBytes, plainBytes);
  if (windowBytes > MAX_WINDOW_BYTES) throw tooLarge(windowBytes, MAX_WINDOW_BYTES);
  const plain = new Uint8Array(contentBytes);
  readBlocks(bytes, headerBytes, hasChecksum, new BlockReader(plain, windowBytes), Math.min(windowBytes, MAX_BLOCK_BYTES));
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
  if ((descriptor & 8) !== 0) throw damagedFrame();
  if (sizeCode === 0 && !isSingleSegment) throw malformed("a zstd frame does not declare the size of its content");
  const sizeAt = MAGIC.length + (isSingleSegment ? 1 : 2);
  const headerBytes = sizeAt + 2 ** sizeCode;
  if (headerBytes > bytes.length) throw damagedFrame();
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

/** Reads the blocks, which must end where the bytes end. The checksum is not needed, because the hash is compared. */
function readBlocks(bytes: Uint8Array, start: number, hasChecksum: boolean, reader: BlockReader, maxBlockBytes: number): void {
  const [RAW, REPEATED, COMPRESSED] = [0, 1, 2];
  let at = start;
  for (let isLast = false; !isLast; ) {
    if (at + 3 > bytes.length) throw damagedFrame();
    const header = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
    const [kind, size] = [(header >> 1) & 3, header >> 3];
    if (size > maxBlockBytes) throw damagedFrame();
    const block = bytes.subarray(at + 3, at + 3 + (kind === REPEATED ? 1 : size));
    at += 3 + (kind === REPEATED ? 1 : size);
    if (at > bytes.length) throw damagedFrame();
    if (kind === RAW) reader.raw(block);
    else if (kind === REPEATED) reader.repeated(block[0] ?? 0, size);
    else if (kind === COMPRESSED) reader.compressed(block);
    else throw damagedFrame();
    isLast = (header & 1) === 1;
  }
  reader.end();
  if (at + (hasChecksum ? CHECKSUM_BYTES : 0) !== bytes.length) throw damagedFrame();
}
