import type { Clipboard } from "./clipboard";
import type { Controller } from "./controller";
import type { MenuItem } from "./menu";
import { spansOf } from "./shift";

/** Returns the items of the menu of the cells. */
export function menuItems(controller: Controller, clipboard: Clipboard, toggleTrace: () => void): MenuItem[] {
  const countOf = (axis: "rows" | "columns") => spansOf(controller.selection.ranges, axis).reduce((sum, { count }) => sum + count, 0);
  const [rowCount, columnCount] = [countOf("rows"), countOf("columns")];
  const isReadOnly = !controller.canEdit;
  const item = (label: string, run: () => void, isDisabled = isReadOnly): MenuItem => ({ label, run, isDisabled });
  const rows = rowCount === 1 ? "row" : `${rowCount.toLocaleString("en-US")} rows`;
  const columns = columnCount === 1 ? "column" : `${columnCount.toLocaleString("en-US")} columns`;
  const { size } = controller;
  return [
    item("Cut", () => clipboard.copy(true)),
    item("Copy", () => clipboard.copy(false), false),
    item("Paste", () => void clipboard.pasteFromMenu()),
    item("Clear contents", () => controller.clear()),
    item(`Insert ${rows} above`, () => controller.insert("rows"), isReadOnly || rowCount >= size.rows),
    item(`Delete ${rows}`, () => controller.delete("rows"), isReadOnly || rowCount >= size.rows),
    item(`Insert ${columns} before`, () => controller.insert("columns"), isReadOnly || columnCount >= size.columns),
    item(`Delete ${columns}`, () => controller.delete("columns"), isReadOnly || columnCount >= size.columns),
    item("Precedents and dependents (F9)", () => toggleTrace(), false),
    item("Undo", () => controller.undo("undo")),
    item("Redo", () => controller.undo("redo")),
  ];
}
