/** Decodes a file piece by piece: UTF-8, or as a byte order mark says, otherwise Windows-1252. */

import { detectDelimiter, SAMPLE_BYTES } from "./delimiter";

export type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "windows-1252";

const PIECE_BYTES = 256 * 1024;
const MARKS: [Encoding, number[]][] = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
];
const ZIP_MARK = [0x50, 0x4b, 0x03, 0x04];

export interface FileStart {
  encoding: Encoding;
  /** Length of the byte order mark. */
  markBytes: number;
  isZip: boolean;
}

/** The text is not in the encoding. */
export class NotInEncoding extends Error {
  override readonly name = "NotInEncoding";
}

async function bytesOf(file: Blob, start: number, end: number): Promise<Uint8Array> {
  return new Uint8Array(await file.slice(start, end).arrayBuffer());
}

export async function readStart(file: Blob): Promise<FileStart> {
  const bytes = await bytesOf(file, 0, ZIP_MARK.length);
  const startsWith = (mark: number[]) => mark.every((byte, index) => bytes[index] === byte);
  const [encoding, mark] = MARKS.find(([, candidate]) => startsWith(candidate)) ?? (["utf-8", []] as const);
  return { encoding, markBytes: mark.length, isZip: startsWith(ZIP_MARK) };
}

/** Yields the text of a file, without its byte order mark. Throws NotInEncoding at malformed text. */
export async function* textOf(
  file: Blob,
  { encoding, markBytes }: Pick<FileStart, "encoding" | "markBytes">,
): AsyncGenerator<{ text: string; bytes: number }, void, void> {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  for (let start = markBytes; start < file.size; start += PIECE_BYTES) {
    const bytes = await bytesOf(file, start, Math.min(start + PIECE_BYTES, file.size));
    const isLast = start + PIECE_BYTES >= file.size;
    yield { text: decoded(decoder, bytes, isLast, encoding), bytes: bytes.length };
  }
}

/** Bytes 0x80 to 0x9f of Windows-1252. Some versions of Node decode them as in ISO 8859-1. */
const WINDOWS_1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

function decoded(decoder: TextDecoder, bytes: Uint8Array, isLast: boolean, encoding: Encoding): string {
  try {
    const text = decoder.decode(bytes, { stream: !isLast });
    if (encoding !== "windows-1252") return text;
    return text.replace(/[\u0080-\u009f]/g, (character) => WINDOWS_1252[character.charCodeAt(0) - 0x80] ?? character);
  } catch {
    throw new NotInEncoding(`the file is not ${encoding} text`);
  }
}

/** Detects the delimiter of a file. */
export async function delimiterOf(file: Blob, start: Pick<FileStart, "encoding" | "markBytes">): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  let isWholeFile = true;
  for await (const { text } of textOf(file, start)) {
    const part = new TextEncoder().encode(text);
    parts.push(part);
    size += part.length;
    if (size >= SAMPLE_BYTES) {
      isWholeFile = size === SAMPLE_BYTES && file.size <= PIECE_BYTES;
      break;
    }
  }
  const sample = new Uint8Array(Math.min(size, SAMPLE_BYTES));
  let at = 0;
  for (const part of parts) {
    sample.set(part.subarray(0, sample.length - at), at);
    at = Math.min(at + part.length, sample.length);
  }
  return detectDelimiter(sample, isWholeFile);
}
