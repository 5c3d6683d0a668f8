import type { Range, SheetSource } from "../data/types";
import { formatNumber } from "./cell-text";
import { readPaste } from "./clipboard-html";
import type { Controller } from "./controller";
import { isRangeLoaded, readRange } from "./load-range";
import type { NoticeAction } from "./notice";
import { mapCells } from "./selection";
import { pasteInto, rangeToCopy, serialize, type Copied } from "./transfer";

type Notify = (message: string, action?: NoticeAction) => void;

const REFUSED = "The browser refused access to the clipboard. Press Ctrl+C, Ctrl+X or Ctrl+V instead.";

/** Copies, cuts and pastes. Events need no permission and work on plain HTTP pages; only the menu needs more. */
export class Clipboard {
  constructor(
    private readonly controller: Controller,
    private readonly notify: Notify,
  ) {}

  /** Copies the selection into the data of an event, or without one into the system's clipboard. */
  copy(isCut: boolean, data: DataTransfer | null = null): void {
    const { source, selection, readOnlyReason } = this.controller;
    if (!source) return;
    if (isCut && readOnlyReason) return this.notify(readOnlyReason);
    const range = rangeToCopy(selection, source.extent);
    if (typeof range === "string") return this.notify(range);
    const clear = isCut ? () => this.controller.clear() : () => undefined;
    if (!data || !isRangeLoaded(range, source)) return this.#copyLater(source, range, isCut, clear);
    const cells = mapCells(range, (row, column) => source.cellAt(row, column));
    const { plain, html } = serialize(range, cells, isCut);
    data.setData("text/plain", plain);
    data.setData("text/html", html);
    clear();
  }

  /** Safari lets a page write later only if it promises the contents in the event. */
  #copyLater(source: SheetSource, range: Range, isCut: boolean, done: () => void): void {
    const count = formatNumber(range.rowCount * range.columnCount);
    const { selection } = this.controller;
    const copied = readRange(range, source).finally(() => this.controller.loadAgain()).then((cells) => serialize(range, cells, isCut));
    const fail = (error: unknown) => this.notify(error instanceof Error && error.name === "Error" ? error.message : REFUSED);
    if (!navigator.clipboard || typeof ClipboardItem === "undefined") {
      copied.then(() => this.notify(`${count} cells are loaded now. Press Ctrl+${isCut ? "X" : "C"} again.`), fail);
      return;
    }
    const blob = (type: string, text: (copied: Copied) => string) => copied.then((value) => new Blob([text(value)], { type }));
    const item = new ClipboardItem({ "text/plain": blob("text/plain", (value) => value.plain), "text/html": blob("text/html", (value) => value.html) });
    Promise.all([copied, navigator.clipboard.write([item])]).then(() => {
      this.notify(count === "1" ? "1 cell copied" : `${count} cells copied`);
      if (this.controller.selection === selection) done();
    }, fail);
  }

  paste(plain: string, html: string): void {
    const { controller } = this;
    if (controller.readOnlyReason) return this.notify(controller.readOnlyReason);
    const result = pasteInto(controller.selection, readPaste(plain, html));
    if (typeof result === "string") return this.notify(result);
    controller.store(result.inputs);
    controller.goTo(result.range);
    const { layoutVersion } = controller;
    const confirm = () => {
      if (controller.layoutVersion === layoutVersion) controller.store(result.formulas);
      else this.notify("The cells have moved. Paste again.");
    };
    if (result.message) this.notify(result.message, result.formulas.length > 0 ? { label: "Paste as formulas", run: confirm } : undefined);
  }

  /** The menu has no event, and needs the user's permission. */
  async pasteFromMenu(): Promise<void> {
    try {
      const [item] = await navigator.clipboard.read();
      const text = async (type: string) => (item?.types.includes(type) ? (await item.getType(type)).text() : "");
      this.paste(await text("text/plain"), await text("text/html"));
    } catch {
      this.notify(REFUSED);
    }
  }
}
