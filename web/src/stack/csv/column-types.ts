/**
 * Detects the types of csv columns, by the rules of `cellar import` (`exchange/src/typing`). A column
 * has a type only if all of its fields match it; the first field may be a heading.
 */

import type { CellValue } from "../../data/types";
import { fixedFormat, recognise, type Recognised } from "./recognise";

export type ColumnKind = "text" | "boolean" | "date" | "general" | "decimals" | "mixed";

export interface ColumnType {
  kind: ColumnKind;
  /** Number format of dates, and of numbers with a fixed number of decimals. */
  format?: string;
  /** Whether the field in the first row is a heading, which stays text. */
  heading: boolean;
}

const TEXT: ColumnType = { kind: "text", heading: false };

type CommonType =
  | { kind: "unknown" | "booleans" | "text" }
  | { kind: "dates"; format: string }
  | { kind: "numbers"; isGeneral: boolean; decimals: number | null };

const UNKNOWN: CommonType = { kind: "unknown" };
const MIXED: CommonType = { kind: "text" };

function typeOfField(field: Recognised | undefined): CommonType {
  if (field === undefined) return MIXED;
  if (field.kind === "boolean") return { kind: "booleans" };
  if (field.kind === "date") return { kind: "dates", format: field.format };
  return { kind: "numbers", isGeneral: field.isGeneral, decimals: field.isFixed ? field.decimals : null };
}

function common(one: CommonType, other: CommonType): CommonType {
  if (one.kind === "unknown") return other;
  if (other.kind === "unknown") return one;
  if (one.kind === "booleans" && other.kind === "booleans") return one;
  if (one.kind === "dates" && other.kind === "dates") return one.format === other.format ? one : MIXED;
  if (one.kind === "numbers" && other.kind === "numbers") {
    const isGeneral = one.isGeneral && other.isGeneral;
    return { kind: "numbers", isGeneral, decimals: one.decimals === other.decimals ? one.decimals : null };
  }
  return MIXED;
}

function columnType(type: CommonType, heading: boolean): ColumnType | null {
  switch (type.kind) {
    case "unknown":
    case "text":
      return null;
    case "booleans":
      return { kind: "boolean", heading };
    case "dates":
      return { kind: "date", format: type.format, heading };
    case "numbers": {
      if (type.isGeneral) return { kind: "general", heading };
      const format = type.decimals === null ? undefined : fixedFormat(type.decimals);
      return format === undefined ? { kind: "mixed", heading } : { kind: "decimals", format, heading };
    }
  }
}

/** What is known about a column. The first row is separate, because it may be a heading. */
export class Evidence {
  #firstRow: CommonType = UNKNOWN;
  #otherRows: CommonType = UNKNOWN;

  /** Examines a field that is not empty. */
  examine(text: string, isFirstRow: boolean): void {
    if (isFirstRow) this.#firstRow = typeOfField(recognise(text));
    // The type of a column that contains text cannot change any more.
    else if (this.#otherRows.kind !== "text") this.#otherRows = common(this.#otherRows, typeOfField(recognise(text)));
  }

  type(): ColumnType {
    const ofAll = columnType(common(this.#firstRow, this.#otherRows), false);
    return ofAll ?? columnType(this.#otherRows, this.#firstRow.kind !== "unknown") ?? TEXT;
  }
}

export interface TypedField {
  value: CellValue;
  format?: string;
}

/** Returns the value of a field that is not empty, in a column of the given type. */
export function typedField(text: string, type: ColumnType, isFirstRow: boolean): TypedField {
  if (type.kind === "text" || (type.heading && isFirstRow)) return { value: text };
  const field = recognise(text);
  if (field === undefined) return { value: text };
  if (field.kind === "boolean") return { value: field.value };
  if (field.kind === "date") return { value: field.value, format: field.format };
  // The format that all numbers of a column share also applies to a number with fewer decimals.
  const shared = type.kind === "decimals" ? type.format : undefined;
  const format = shared ?? (field.isGeneral ? undefined : fixedFormat(field.decimals));
  return format === undefined ? { value: field.value } : { value: field.value, format };
}
