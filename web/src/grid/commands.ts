import type { Clipboard } from "./clipboard";
import type { Controller } from "./controller";
import type { Command } from "./keys";
import type { Menu, MenuItem } from "./menu";
import { selectAll, widen } from "./selection";
import { spansOf } from "./shift";

export interface CommandUi {
  notify(message: string): void;
  focusNameBox(): void;
  toggleTrace(): void;
  openFind(): void;
  editorElement(): HTMLTextAreaElement;
  host: HTMLElement;
}

/** Runs the commands of keys and of the menu. */
export class CommandRunner {
  constructor(
    private readonly controller: Controller,
    private readonly menu: Menu,
    private readonly clipboard: Clipboard,
    private readonly ui: CommandUi,
  ) {}

  run(command: Command): void {
    const { controller } = this;
    switch (command.kind) {
      case "move":
        return controller.navigate(command.move, command.isExtending);
      case "advance":
        return controller.advance(command.axis, command.step);
      case "commit":
        return controller.edit({ kind: "commit", text: this.ui.editorElement().value, advance: command.advance });
      case "widen":
        return controller.select(widen(controller.selection, command.axis, controller.size), false);
      case "insert":
        return controller.insert(command.axis);
      case "delete":
        return controller.delete(command.axis);
      case "resizeColumns":
        return controller.resizeColumns(command.by);
      case "selectAll":
        return controller.select(selectAll(controller.selection, controller.size), false);
      case "undo":
      case "redo":
        return controller.undo(command.kind);
      default:
        return this.runSimple(command.kind);
    }
  }

  private runSimple(kind: Exclude<Command["kind"], "move" | "advance" | "commit" | "widen" | "insert" | "delete" | "resizeColumns">): void {
    const { controller, ui } = this;
    switch (kind) {
      case "open":
        return controller.refusesEdit() ? undefined : controller.edit(controller.editStart("open"));
      case "toggle":
        return controller.edit({ kind: "toggle" });
      case "cancel":
        return controller.edit({ kind: "cancel" });
      case "clear":
        return this.clipboard.clear();
      case "fillDown":
        return controller.fillDown();
      case "find":
        return ui.openFind();
      case "goTo":
        return ui.focusNameBox();
      case "newline":
        ui.editorElement().setRangeText("\n", ui.editorElement().selectionStart, ui.editorElement().selectionEnd, "end");
        return controller.redraw();
      case "menu":
        return this.openMenuAtEditor();
    }
  }

  openMenu(clientX: number, clientY: number): void {
    const box = this.ui.host.getBoundingClientRect();
    this.menu.open(this.items(), { x: clientX - box.left, y: clientY - box.top, host: box, returnFocus: () => this.ui.editorElement().focus() });
  }

  private openMenuAtEditor(): void {
    const box = this.ui.editorElement().getBoundingClientRect();
    this.openMenu(box.left, box.bottom);
  }

  private items(): MenuItem[] {
    const { controller, clipboard } = this;
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
      item("Clear contents", () => clipboard.clear()),
      item(`Insert ${rows} above`, () => controller.insert("rows"), isReadOnly || rowCount >= size.rows),
      item(`Delete ${rows}`, () => controller.delete("rows"), isReadOnly || rowCount >= size.rows),
      item(`Insert ${columns} before`, () => controller.insert("columns"), isReadOnly || columnCount >= size.columns),
      item(`Delete ${columns}`, () => controller.delete("columns"), isReadOnly || columnCount >= size.columns),
      item("Precedents and dependents (F9)", () => this.ui.toggleTrace(), false),
      item("Undo", () => controller.undo("undo")),
      item("Redo", () => controller.undo("redo")),
    ];
  }
}
