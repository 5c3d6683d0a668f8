/** Downloads an object from the bucket, without the token of the stack, up to a number of bytes. */

import { FormatError } from "./format-error";

export async function download(url: string, maxBytes: number, signal?: AbortSignal, send = globalThis.fetch): Promise<Uint8Array> {
  const reply = await send(url, {
    credentials: "omit",
    referrerPolicy: "no-referrer",
    // The store keeps the objects itself. A signed URL is never used twice.
    cache: "no-store",
    ...(signal === undefined ? {} : { signal }),
  });
  if (!reply.ok) throw new Error(`the bucket answered ${reply.status} to the request of an object`);
  if (reply.body === null) return new Uint8Array();
  const reader = reply.body.getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return join(parts, length);
    length += value.length;
    if (length > maxBytes) {
      await reader.cancel();
      throw new FormatError("limit", `an object has more than ${maxBytes} bytes`);
    }
    parts.push(value);
  }
}

function join(parts: readonly Uint8Array[], length: number): Uint8Array {
  const joined = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
