/** Imports a file, in a chunk that is loaded when it is first needed. */

import type { StackClient } from "../../stack/http";

export function importFile(_file: File, _stack: StackClient, _progress: (text: string) => void): Promise<{ id: string }> {
  return Promise.reject(new Error("files cannot be imported in the page yet; use `cellar import FILE`"));
}
