import type { Clipboard } from "./clipboard";
import type { Controller } from "./controller";

/** Handles the events of the clipboard while no text is edited. `use` calls its function once the clipboard is loaded. */
export function attachClipboard(editor: HTMLTextAreaElement, controller: Controller, use: (run: (clipboard: Clipboard) => void) => void): void {
  const on = (type: "copy" | "cut" | "paste", run: (event: ClipboardEvent) => void) =>
    editor.addEventListener(type, (event) => {
      if (controller.editState.mode !== "ready" || !controller.source) return;
      event.preventDefault();
      run(event);
    });
  const copy = (isCut: boolean, { clipboardData }: ClipboardEvent) => {
    let data = clipboardData;
    use((clipboard) => clipboard.copy(isCut, data));
    // The data of an event cannot be written after it.
    data = null;
  };
  on("copy", (event) => copy(false, event));
  on("cut", (event) => copy(true, event));
  // All types are read before anything else: Firefox empties the data after the first await. Pictures are ignored,
  // since Excel adds one to every copy.
  on("paste", ({ clipboardData: data }) => {
    const [plain, html] = [data?.getData("text/plain") ?? "", data?.getData("text/html") ?? ""];
    const { selection, source } = controller;
    use((clipboard) => {
      // Another cell may be active once the clipboard is loaded.
      if (controller.source !== source) return;
      controller.select(selection, false);
      clipboard.paste(plain, html);
    });
  });
}
