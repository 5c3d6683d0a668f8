/** The interface between the data layer and the grid, or any other view of a spreadsheet. */

export type CellValue = null | number | string | boolean | { error: string };

export interface Cell {
  row: number;
  column: number;
  value: CellValue;
  /** The displayed text. */
  text: string;
  formula?: string;
  format?: string;
  /** The value was not calculated after the last change. */
  stale?: boolean;
  note?: string;
  filledBy?: string;
  fills?: string;
  /** The cell shows an edit that the server has not confirmed. */
  pending?: boolean;
}

export interface Extent {
  rows: number;
  columns: number;
}

export interface SheetInfo {
  sheet: number;
  name: string;
  extent: Extent;
}

export interface Range {
  firstRow: number;
  rowCount: number;
  firstColumn: number;
  columnCount: number;
}

/** A text as typed: "" clears the cell, and a leading ' keeps the rest as text. */
export interface CellInput {
  row: number;
  column: number;
  input: string;
}

/** Rows or columns of the shown sheet that were inserted, or deleted if `count` is negative. */
export interface LayoutShift {
  axis: "rows" | "columns";
  at: number;
  count: number;
}

export type SheetChange =
  /** `author` is set if another client changed the cells, at a place where the source shows them. */
  | { kind: "cells"; ranges: Range[]; author?: string }
  /** Without a shift, any cell may be elsewhere. With one, views keep the row that the user looks at. */
  | ({ kind: "layout" } & Partial<LayoutShift>)
  | { kind: "sheets" }
  /** Other selections of others are known. */
  | { kind: "others" }
  | { kind: "status" };

export interface SheetStatus {
  /** Position of the displayed state, such as `0.42`. */
  position: string;
  /** Number of own edits that the server has not confirmed. */
  pending: number;
  oldestPendingMs: number | null;
  isOnline: boolean;
  /** The cells are those of the last opening, and the first answer of the server is awaited. */
  isConnecting?: boolean;
  /** The browser stores no edits: those that wait are lost with the tab. */
  isMemoryOnly?: boolean;
  role: "viewer" | "editor" | "owner";
  /** Why the spreadsheet is read-only at present, such as "The spreadsheet is archived". */
  readOnlyReason?: string;
  /** A message for the user, or null. */
  problem: string | null;
}

/** A formula reads `precedents`; the formulas of `dependents` read the cell. */
export interface CellTrace {
  precedents: readonly SheetRange[];
  dependents: readonly SheetRange[];
}

export interface SheetRange extends Range {
  sheet: number;
}

export type MarkKind = "changed" | "precedent" | "dependent" | "reference" | "found" | "person";

/** Cells that the grid highlights, in the coordinates of the source. */
export interface Mark extends SheetRange {
  kind: MarkKind;
  /** Number of the color; the grid repeats its colors. */
  color?: number;
  /** Shown at the corner of the range, such as the name of the author. */
  label?: string;
}

/** The cells that another client has selected, where the source shows them. */
export interface OtherSelection extends SheetRange {
  /** Names the client, such as a tab of a browser. */
  client: string;
  author: string;
  /** How often the client has moved its selection, as far as it was seen. */
  moves: number;
}

export interface SheetSource {
  readonly sheets: readonly SheetInfo[];
  readonly sheet: number;
  readonly extent: Extent;
  readonly status: SheetStatus;
  /** The defined names of the spreadsheet, if the source knows them. */
  readonly names?: readonly string[];
  selectSheet(sheet: number): void;
  /** Reads the cache only. */
  cellAt(row: number, column: number): Cell | undefined;
  isLoaded(row: number, column: number): boolean;
  /** Loads the blocks around `range`, and cancels loads that are no longer needed. */
  request(range: Range): void;
  /** Returns a function that ends the subscription. */
  subscribe(listener: (change: SheetChange) => void): () => void;
  setCells(inputs: readonly CellInput[]): void;
  insertRows(before: number, count: number): void;
  deleteRows(first: number, count: number): void;
  insertColumns(before: number, count: number): void;
  deleteColumns(first: number, count: number): void;
  /** Adds a sheet after the last one. */
  addSheet(name: string): void;
  renameSheet(sheet: number, name: string): void;
  deleteSheet(sheet: number): void;
  /** Undoes the last own edit. Returns a message for the user. */
  undo(): Promise<string>;
  redo(): Promise<string>;
  /** Finds the cells that a formula reads, and the formulas that read a cell. Absent if the source cannot. */
  trace?(row: number, column: number): Promise<CellTrace>;
  /** What others have selected. Absent if the source does not know it. */
  readonly others?: readonly OtherSelection[];
  /** Shows others what the user has selected; null if the source is no longer shown. Without a call, `others` is empty. */
  announce?(selection: SheetRange | null): void;
  close(): void;
}
