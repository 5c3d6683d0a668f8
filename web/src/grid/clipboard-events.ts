import type { Controller } from "./controller";
import { clearInputs, copyRange, pasteInto } from "./transfer";

/** Handles the clipboard while no text is edited. The events work without permissions and on plain HTTP pages. */
export function attachClipboard(editor: HTMLTextAreaElement, controller: Controller, notify: (message: string) => void): void {
  const isReady = () => controller.editState.mode === "ready" && controller.source !== null;
  editor.addEventListener("copy", (event) => {
    if (isReady()) copy(event, controller, notify);
  });
  editor.addEventListener("cut", (event) => {
    if (!isReady() || !controller.canEdit || !copy(event, controller, notify)) return;
    const inputs = clearInputs(controller.selection, controller.source!);
    if (typeof inputs === "string") notify(inputs);
    else controller.store(inputs);
  });
  editor.addEventListener("paste", (event) => {
    if (isReady()) paste(event, controller, notify);
  });
}

function copy(event: ClipboardEvent, controller: Controller, notify: (message: string) => void): boolean {
  event.preventDefault();
  const copied = copyRange(controller.selection, controller.source!);
  if (typeof copied === "string") {
    notify(copied);
    return false;
  }
  event.clipboardData?.setData("text/plain", copied.plain);
  event.clipboardData?.setData("text/html", copied.html);
  return true;
}

function paste(event: ClipboardEvent, controller: Controller, notify: (message: string) => void): void {
  event.preventDefault();
  // Both types are read before anything else: Firefox empties the clipboard's data after the first await. Pictures are
  // ignored, since Excel adds one to every copy.
  const plain = event.clipboardData?.getData("text/plain") ?? "";
  const html = event.clipboardData?.getData("text/html") ?? "";
  const result = pasteInto(controller.selection, plain, html);
  if (typeof result === "string") return notify(result);
  if (!controller.canEdit) return notify("You can view this spreadsheet but not change it");
  controller.store(result.inputs);
  controller.goTo(result.range);
  if (result.message) notify(result.message);
}
