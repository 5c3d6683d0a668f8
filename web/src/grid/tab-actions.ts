import type { SheetInfo, SheetSource } from "../data/types";
import { make } from "./dom";
import { isComposing } from "./keys";
import type { MenuItem } from "./menu";
import { freeSheetName, MAX_SHEET_NAME_LENGTH, sheetNameProblem } from "./sheet-names";
import { tabOf } from "./tabs";

export interface TabActionsUi {
  source(): SheetSource | null;
  notify(message: string): void;
  confirm(title: string, text: string, action: string): Promise<boolean>;
  /** Opens a menu at an element, which gets the focus back. */
  openMenu(items: readonly MenuItem[], at: HTMLElement): void;
}

/** Adds, renames and deletes sheets. */
export class TabActions {
  readonly #input = make("input", "rename", { "aria-label": "New name of the sheet", maxlength: String(MAX_SHEET_NAME_LENGTH), spellcheck: "false" });
  #renamed: SheetInfo | null = null;

  constructor(
    private readonly bar: HTMLElement,
    private readonly ui: TabActionsUi,
  ) {
    const input = this.#input;
    input.hidden = true;
    bar.append(input);
    input.addEventListener("blur", () => this.#endRename(true));
    input.addEventListener("keydown", (event) => {
      if (isComposing(event) || (event.key !== "Enter" && event.key !== "Escape")) return;
      event.preventDefault();
      this.#endRename(event.key === "Enter");
      tabOf(bar, ui.source()?.sheet)?.focus();
    });
  }

  /** Returns the name of the new sheet. */
  addSheet(): string | null {
    const source = this.ui.source();
    if (!source) return null;
    const name = freeSheetName(source.sheets);
    source.addSheet(name);
    return name;
  }

  openMenu(info: SheetInfo, at: HTMLElement): void {
    const source = this.ui.source();
    if (!source) return;
    this.ui.openMenu([
      { label: "Rename", isDisabled: false, run: () => this.startRename(info) },
      { label: "Delete", isDisabled: source.sheets.length < 2, run: () => void this.deleteSheet(info) },
    ], at);
  }

  startRename(info: SheetInfo): void {
    const tab = tabOf(this.bar, info.sheet);
    if (!tab) return;
    const input = this.#input;
    this.#renamed = info;
    input.value = info.name;
    input.hidden = false;
    const box = tab.getBoundingClientRect();
    input.style.left = `${Math.max(0, box.left - this.bar.getBoundingClientRect().left)}px`;
    input.style.width = `${Math.max(120, box.width)}px`;
    input.focus();
    input.select();
  }

  #endRename(isStored: boolean): void {
    const info = this.#renamed;
    const source = this.ui.source();
    this.#renamed = null;
    this.#input.hidden = true;
    const name = this.#input.value.trim();
    if (!info || !source || !isStored || name === info.name) return;
    const problem = sheetNameProblem(name, info.sheet, source.sheets);
    if (problem) this.ui.notify(problem);
    else source.renameSheet(info.sheet, name);
  }

  async deleteSheet(info: SheetInfo): Promise<void> {
    const text = "Its cells are deleted for everybody. Earlier positions keep them.";
    // A dialog that is cancelled gives the focus back by itself.
    if (!(await this.ui.confirm(`Delete the sheet ${info.name}?`, text, "Delete"))) return;
    this.ui.source()?.deleteSheet(info.sheet);
    tabOf(this.bar, this.ui.source()?.sheet)?.focus();
  }
}
