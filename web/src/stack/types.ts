/** The types of the stack client. Times are seconds since the Unix epoch, positions are numbers. */

import type { CellValue, Extent } from "../data/types";
import type { Role, Spreadsheet } from "./details";
import type { Operation, Span } from "./operations";

export type { CellValue, Extent, Operation, Role, Span };
export type LinkRole = "viewer" | "editor";

/** A position, its text such as `0.42`, or a time with its time zone. */
export type PositionOrTime = number | string;

export interface Person {
  issuer: string;
  subject: string;
}

export interface Member {
  person: Person;
  role: Role;
}

export interface ShareLink {
  id: string;
  label: string;
  role: LinkRole;
  expiresS?: number;
}

/** The details with the members and share links. Only what the caller's role may see is set. */
export interface Sharing extends Spreadsheet {
  members?: Member[];
  links?: ShareLink[];
  version: number;
}

export interface Created {
  id: string;
  head: number;
  incarnation: number;
}

export interface NewLink {
  id: string;
  token: string;
}

export interface Merged {
  fork: string;
  by?: string;
  /** When the edits were made in the fork. */
  createdS: number;
  position: number;
  through: number;
}

export interface HistoryMutation {
  id: number;
  base: number;
  op: Operation;
  /** Absent if equal to `op`, empty if the mutation had no effect. */
  committed?: Operation[];
}

export interface HistoryEntry {
  position: number;
  kind: "snapshot" | "endSegment" | "edits";
  author?: string;
  createdS: number;
  merged?: Merged;
  mutations: HistoryMutation[];
  /** The number and size of operations that are stored outside the entry. */
  external?: { count: number; bytes: number };
}

export interface HistoryPage {
  entries: HistoryEntry[];
  /** Position of the next older entry. Absent if there is none. */
  next?: number;
}

export interface CellContent {
  value: CellValue;
  formula?: string;
  format?: string;
}

export interface CellDiff {
  row: number;
  column: number;
  before: CellContent;
  after: CellContent;
}

export type CellChange =
  | { kind: "cell"; diff: CellDiff }
  | { kind: "rowsInserted" | "columnsInserted" | "rowsDeleted" | "columnsDeleted"; spans: Span[] }
  | { kind: "sheetAdded" | "sheetImported" };

export interface CellHistoryEntry {
  position: number;
  author?: string;
  createdS: number;
  merged?: Merged;
  sheet: number;
  /** Name of the sheet after the change. */
  name: string;
  change: CellChange;
  /** The undo or revert that recovered the sheet, if the change is `sheetAdded`. */
  recovered?: Recovery;
}

export interface Recovery {
  by: "undo" | "revert";
  /** Position of the undone entry, or of the restored state. */
  position: number;
}

export interface CellHistoryPage {
  changes: CellHistoryEntry[];
  next?: string;
  isTruncated: boolean;
}

export interface AxisDiff {
  inserted: Span[];
  deleted: Span[];
}

export interface SheetDiff {
  sheet: number;
  name: string;
  change: "added" | "deleted" | "renamed" | "kept";
  /** In the coordinates of the later state. */
  cells: CellDiff[];
  /** In the coordinates of the earlier state. */
  deletedCells: ReadCell[];
  rows: AxisDiff;
  columns: AxisDiff;
  formatsChanged: boolean;
}

export interface NameDiff {
  name: string;
  before?: string;
  after?: string;
}

/** Names of all sheets in tab order. */
export interface OrderDiff {
  before: string[];
  after: string[];
}

export interface DiffPage {
  from: number;
  to: number;
  sheets: SheetDiff[];
  names: NameDiff[];
  order?: OrderDiff;
  spansTruncated: boolean;
  next?: number;
}

export interface ReadCell extends CellContent {
  row: number;
  column: number;
  stale?: boolean;
}

export interface CellsPage {
  cells: ReadCell[];
  extent: Extent;
  sheet: number;
  name: string;
  position: number;
  next?: string;
}

export interface FoundCell extends ReadCell {
  sheet: number;
  /** Name of the sheet. */
  name: string;
}

export interface FindPage {
  cells: FoundCell[];
  count: number;
  /** Number of stale cells that were compared. */
  staleCells?: number;
  position: number;
  next?: string;
}

export interface FilterPage {
  cells: ReadCell[];
  rows: number;
  sheet: number;
  name: string;
  position: number;
  /** Numbers whose sum is the sum of the page. */
  sum?: { numbers: number; parts: number[]; tooLarge: boolean };
  next?: string;
}

export interface SheetsAt {
  sheets: { sheet: number; name: string; extent: Extent }[];
  position: number;
  incarnation: number;
}

export interface Forked {
  id: string;
  source: string;
  /** Last position that the fork shares with its source. */
  position: number;
  head: number;
}

export interface ForkListed {
  id: string;
  author?: string;
  createdS: number;
  position: number;
}

export type MergeOutcome = "unchanged" | "moved" | "dropped" | "rejected";

export interface MergedEdit {
  position: number;
  author?: string;
  createdS: number;
  outcome: MergeOutcome;
  rejection?: string;
  conflictCount: number;
  conflicts: { sheet: number; row: number; column: number }[];
}

export interface MergeCounts extends Record<MergeOutcome, number> {
  inConflict: number;
}

export interface MergeReport {
  counts: MergeCounts;
  edits: MergedEdit[];
  from: number;
  through: number;
  head: number;
  remaining: number;
  /** Undoing this entry undoes the whole merge. */
  mergedAs?: number;
}

/** Numbers of parts of a spreadsheet. */
export interface ReversalCounts {
  cells: number;
  rows: number;
  columns: number;
  sheets: number;
  names: number;
  formats: number;
  definedNames: number;
  formulas: number;
}

export interface Reversal {
  restored: ReversalCounts;
  /** Parts that stay as they are, because they were changed again later. */
  left: ReversalCounts;
  formulasIncomplete: boolean;
}

export interface AppendResult {
  head: number;
  results: {
    id: number;
    status: "appended" | "duplicate" | "rejected";
    position?: number;
    committed?: Operation[];
    rejection?: { reason: string; detail: string };
    reversal?: Reversal;
  }[];
}

export interface UploadGrant {
  uploadId: string;
  url: string;
  method: string;
  headers: Record<string, string>;
}
