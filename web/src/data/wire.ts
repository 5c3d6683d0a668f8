/** The types of the HTTP API that the data layer uses. `docs/reference/http-api.md` describes them. */

import type { CellValue, Extent } from "./types";

export interface Span {
  first: number;
  count: number;
}

/** An edit of one cell. Absent fields stay as they are. */
export interface CellEdit {
  row: number;
  column: number;
  value?: CellValue;
  formula?: string;
  format?: string;
}

export interface Insertion {
  sheet: number;
  before: number;
  count: number;
}

export interface Deletion {
  sheet: number;
  spans: Span[];
}

/** The operations that this client understands. `other` stands for any other one. */
export type Operation =
  | { kind: "setCells"; sheet: number; cells: CellEdit[] }
  | { kind: "clearRange"; sheet: number; rows: Span[]; columns: Span[] }
  | ({ kind: "insertRows" | "insertColumns" } & Insertion)
  | ({ kind: "deleteRows" | "deleteColumns" } & Deletion)
  | { kind: "addSheet"; sheet: number; name: string; before?: number }
  | { kind: "importSheet"; sheet: number; name: string; replaces?: number }
  | { kind: "renameSheet"; sheet: number; name: string }
  | { kind: "deleteSheet"; sheet: number }
  | { kind: "undo"; position: number }
  | { kind: "rejected"; detail: string }
  | { kind: "other"; name: string };

export interface Mutation {
  id: number;
  base: number;
  op: Operation;
  /** Absent if equal to `op`, empty if the mutation had no effect. */
  committed?: Operation[];
}

export interface Entry {
  position: number;
  kind: "snapshot" | "endSegment" | "edits";
  clientKey?: string;
  /** Who made the edits. */
  author?: string;
  mutations: Mutation[];
  /** Whether the operations are in an object that this client does not read. */
  isExternal: boolean;
}

export interface EntriesReply {
  entries: Entry[];
  head: number;
  incarnation: number;
  next?: number;
}

export interface HeadReply {
  head: number;
  incarnation: number;
}

export interface SheetView {
  sheet: number;
  name: string;
  extent: Extent;
}

export interface SheetsReply {
  sheets: SheetView[];
  /** Number for the next sheet. */
  nextSheet: number;
  /** The defined names of formulas. */
  names: string[];
  position: number;
  incarnation: number;
}

export interface WireCell {
  row: number;
  column: number;
  value: CellValue;
  formula?: string;
  format?: string;
  stale?: boolean;
  note?: string;
  filledBy?: string;
  fills?: string;
}

export interface RangeFormat {
  rows: Span[];
  columns: Span[];
  format: string;
}

export interface CellsReply {
  cells: WireCell[];
  formats: RangeFormat[];
  extent: Extent;
  position: number;
  incarnation: number;
  sheet: number;
  next?: string;
}

export interface MutationResult {
  id: number;
  status: "appended" | "duplicate" | "rejected";
  position?: number;
  rejection?: string;
  /** Numbers of restored and kept parts, set for an undo. */
  reversal?: { restored: Record<string, number>; left: Record<string, number> };
}

export interface AppendReply {
  results: MutationResult[];
  head: number;
}

export type Role = "viewer" | "editor" | "owner";

export interface DetailsReply {
  role: Role;
  /** Set if the spreadsheet is archived or deleted. */
  readOnlyReason?: string;
}

/** A mutation as it is sent. `op` is the JSON of the API, kept unchanged between attempts. */
export interface SentMutation {
  id: number;
  base: number;
  op: unknown;
}

/** Returns the JSON of an operation, an object with a single field. */
export function operationToJson(operation: Operation): unknown {
  if (operation.kind === "other") return {};
  if (operation.kind === "rejected") return {};
  const { kind, ...fields } = operation;
  return { [kind]: fields };
}
