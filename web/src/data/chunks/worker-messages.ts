/** What the page and the worker that reads windows send each other. */

import type { WindowRange } from "./merge";
import type { ReadWindow } from "./window-reader";

export type ToWorker =
  | { kind: "open"; id: number; root: string; rootUrl: string }
  | { kind: "read"; id: number; sheet: number; range: WindowRange }
  /** Null if the stack gave none. */
  | { kind: "urls"; id: number; urls: string[] | null };

export type FromWorker =
  | { kind: "urls"; id: number; hashes: readonly string[] }
  /** The position of the root, or a window. */
  | { kind: "result"; id: number; result: number | ReadWindow | null }
  | { kind: "failed"; id: number; reason: string };
