import type { Controller } from "./controller";
import type { Command } from "./keys";
import { selectAll, widen } from "./selection";

export interface CommandUi {
  focusNameBox(): void;
  openFind(): void;
  editorElement(): HTMLTextAreaElement;
  openMenu(clientX: number, clientY: number): void;
}

/** Runs the commands of keys. */
export class CommandRunner {
  constructor(
    private readonly controller: Controller,
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
        return this.#runSimple(command.kind);
    }
  }

  #runSimple(kind: Exclude<Command["kind"], "move" | "advance" | "commit" | "widen" | "insert" | "delete" | "resizeColumns">): void {
    const { controller, ui } = this;
    switch (kind) {
      case "open":
        return controller.refusesEdit() ? undefined : controller.edit(controller.editStart("open"));
      case "toggle":
        return controller.edit({ kind: "toggle" });
      case "cancel":
        return controller.edit({ kind: "cancel" });
      case "clear":
        return controller.clear();
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
        return this.#openMenuAtEditor();
    }
  }

  #openMenuAtEditor(): void {
    const box = this.ui.editorElement().getBoundingClientRect();
    this.ui.openMenu(box.left, box.bottom);
  }
}
