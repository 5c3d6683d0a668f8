/** Files that the tests of other readers use, too. */

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
