/** Golden files and corpora, which the tests of the server's readers also use. */

import { readdirSync, readFileSync } from "node:fs";

const TESTS = new URL("../../../tests/", import.meta.url);

export function hexBytes(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text.replace(/\s/g, ""), "hex"));
}

/** Returns the objects of a golden file with one object per line, after its name. */
export function goldenObjects(name: string): { name: string; bytes: Uint8Array }[] {
  const lines = readFileSync(new URL(`golden/${name}`, TESTS), "utf8").trim().split("\n");
  return lines.map((line) => {
    const [object = "", hex = ""] = line.split(" ");
    return { name: object, bytes: hexBytes(hex) };
  });
}

export function goldenBytes(name: string): Uint8Array {
  return hexBytes(readFileSync(new URL(`golden/${name}`, TESTS), "utf8"));
}

export function corpus(folder: string): { name: string; bytes: Uint8Array }[] {
  const path = new URL(`fuzz-corpus/${folder}/`, TESTS);
  return readdirSync(path).map((name) => ({ name, bytes: Uint8Array.from(readFileSync(new URL(name, path))) }));
}

export function documentText(name: string): string {
  return readFileSync(new URL(`../../../docs/reference/${name}`, import.meta.url), "utf8");
}

/** Returns the value of `read`, or the error that it throws. */
export function outcome<T>(read: () => T): T | Error {
  try {
    return read();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

type Cbor = number | string | Uint8Array | readonly Cbor[] | ReadonlyMap<number, Cbor>;

/** Writes a value in the profile of the format. */
export function cborOf(value: Cbor): Uint8Array {
  const parts: number[] = [];
  const head = (major: number, argument: number) => {
    const wide = [argument >>> 24, (argument >>> 16) & 255, (argument >>> 8) & 255, argument & 255];
    parts.push(...(argument < 24 ? [(major << 5) | argument] : [(major << 5) | 26, ...wide]));
  };
  const write = (item: Cbor): void => {
    if (typeof item === "number") head(0, item);
    else if (typeof item === "string") write2(3, new TextEncoder().encode(item));
    else if (item instanceof Uint8Array) write2(2, item);
    else if (item instanceof Map) {
      head(5, item.size);
      for (const [key, field] of item as ReadonlyMap<number, Cbor>) [key, field].forEach(write);
    } else {
      head(4, (item as readonly Cbor[]).length);
      (item as readonly Cbor[]).forEach(write);
    }
  };
  const write2 = (major: number, bytes: Uint8Array) => {
    head(major, bytes.length);
    for (const byte of bytes) parts.push(byte);
  };
  write(value);
  return Uint8Array.from(parts);
}

/** Returns a tile with one column of texts, in ascending rows. */
export function tileOf(column: number, cells: ReadonlyMap<number, string | null>): Uint8Array {
  const rows = [...cells.keys()];
  const texts = [...cells.values()].map((text) => new TextEncoder().encode(text ?? ""));
  const signed = (value: number) => varint(value < 0 ? -2 * value - 1 : 2 * value);
  const integers = (values: readonly number[]) =>
    values.length === 0 ? [] : values.length === 1 ? signed(values[0] ?? 0) : [1 << 2, ...values.flatMap(signed)];
  const gaps = rows.slice(1).map((row, index) => row - (rows[index] ?? 0) - 1);
  const kinds = [...cells.values()].map((text) => (text === null ? 1 : 5));
  const shown = texts.filter((_, index) => kinds[index] === 5);
  const values = [1, ...integers(kinds), ...(shown.length === 0 ? [] : [0, ...integers(shown.map(({ length }) => length))])];
  const header = [0x43, 0x63, 1, 1, 0, 1, ...varint(column), 7 | (3 << 3), ...signed(rows[0] ?? 0), ...varint(rows.length)];
  return Uint8Array.from([...header, ...integers(gaps), ...values, ...shown.flatMap((text) => [...text])]);
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}
