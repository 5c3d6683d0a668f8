import type { SheetInfo, SheetSource } from "../data/types";
import { make, setAttribute, setText } from "./dom";
import type { MenuItem } from "./menu";
import { freeSheetName, MAX_SHEET_NAME_LENGTH, sheetNameProblem } from "./sheet-names";

export interface TabsUi {
  source(): SheetSource | null;
  notify(message: string): void;
  confirm(title: string, text: string, action: string): Promise<boolean>;
  /** Opens a menu at an element, which gets the focus back. */
  openMenu(items: readonly MenuItem[], at: HTMLElement): void;
}

/** One tab per sheet, with the keys of the tab pattern of ARIA. Editors add, rename and delete sheets. */
export class SheetTabs {
  private readonly list = make("div", "tabs", { role: "tablist", "aria-label": "Sheets" });
  private readonly add = make("button", "", { type: "button", "aria-label": "Add a sheet", title: "Add a sheet" }, "+");
  private readonly actions = make("button", "", { type: "button", "aria-label": "Sheet actions", "aria-haspopup": "menu", title: "Rename or delete the sheet" }, "⋮");
  private readonly input = make("input", "rename", { "aria-label": "New name of the sheet", maxlength: String(MAX_SHEET_NAME_LENGTH), spellcheck: "false" });
  readonly element = make("div", "tab-bar", {}, this.list, this.add, this.actions, this.input);
  private canEdit = false;
  private renamed: SheetInfo | null = null;
  /** Name of a sheet that was added and is shown once the source has it. */
  private awaited: string | null = null;

  constructor(private readonly ui: TabsUi) {
    const { list, input } = this;
    this.input.hidden = true;
    list.addEventListener("click", (event) => this.select(infoOf(event, ui)));
    list.addEventListener("dblclick", (event) => this.startRename(infoOf(event, ui)));
    list.addEventListener("keydown", (event) => this.handleKey(event));
    list.addEventListener("contextmenu", (event) => {
      const info = infoOf(event, ui);
      if (!info || !this.canEdit) return;
      event.preventDefault();
      this.select(info);
      this.openMenu(info, event.target as HTMLElement);
    });
    this.add.addEventListener("click", () => this.addSheet());
    this.actions.addEventListener("click", () => this.openMenu(this.shown(), this.actions));
    input.addEventListener("blur", () => this.endRename(true));
    input.addEventListener("keydown", (event) => {
      if (event.isComposing || (event.key !== "Enter" && event.key !== "Escape")) return;
      event.preventDefault();
      this.endRename(event.key === "Enter");
      this.tabOf(this.ui.source()?.sheet)?.focus();
    });
  }

  draw(source: SheetSource, canEdit: boolean): void {
    this.canEdit = canEdit;
    this.add.hidden = this.actions.hidden = !canEdit;
    const tabs = [...this.list.children] as HTMLElement[];
    while (tabs.length > source.sheets.length) tabs.pop()!.remove();
    source.sheets.forEach((info, index) => {
      const tab = tabs[index] ?? this.list.appendChild(make("button", "", { role: "tab", type: "button" }));
      const isSelected = info.sheet === source.sheet;
      setText(tab, info.name);
      setAttribute(tab, "data-sheet", String(info.sheet));
      setAttribute(tab, "aria-selected", String(isSelected));
      setAttribute(tab, "tabindex", isSelected ? "0" : "-1");
    });
    const added = source.sheets.find(({ name }) => name === this.awaited);
    if (!added) return;
    this.awaited = null;
    this.select(added);
    this.tabOf(added.sheet)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  private shown(): SheetInfo | undefined {
    const source = this.ui.source();
    return source?.sheets.find(({ sheet }) => sheet === source.sheet);
  }

  private tabOf(sheet: number | undefined): HTMLElement | null {
    return this.list.querySelector<HTMLElement>(`[data-sheet="${sheet}"]`);
  }

  private select(info: SheetInfo | undefined): void {
    const source = this.ui.source();
    if (info && source && info.sheet !== source.sheet) source.selectSheet(info.sheet);
  }

  private addSheet(): void {
    const source = this.ui.source();
    if (!source) return;
    this.awaited = freeSheetName(source.sheets);
    source.addSheet(this.awaited);
  }

  private openMenu(info: SheetInfo | undefined, at: HTMLElement): void {
    const source = this.ui.source();
    if (!info || !source) return;
    this.ui.openMenu([
      { label: "Rename", isDisabled: false, run: () => this.startRename(info) },
      { label: "Delete", isDisabled: source.sheets.length < 2, run: () => void this.deleteSheet(info) },
    ], at);
  }

  private startRename(info: SheetInfo | undefined): void {
    const tab = this.tabOf(info?.sheet);
    if (!info || !tab || !this.canEdit) return;
    const { input } = this;
    this.renamed = info;
    input.value = info.name;
    input.hidden = false;
    const box = tab.getBoundingClientRect();
    input.style.left = `${Math.max(0, box.left - this.element.getBoundingClientRect().left)}px`;
    input.style.width = `${Math.max(120, box.width)}px`;
    input.focus();
    input.select();
  }

  private endRename(isStored: boolean): void {
    const info = this.renamed;
    const source = this.ui.source();
    this.renamed = null;
    this.input.hidden = true;
    const name = this.input.value.trim();
    if (!info || !source || !isStored || name === info.name) return;
    const problem = sheetNameProblem(name, info.sheet, source.sheets);
    if (problem) this.ui.notify(problem);
    else source.renameSheet(info.sheet, name);
  }

  private async deleteSheet(info: SheetInfo): Promise<void> {
    const text = "Its cells are deleted for everybody. Earlier positions keep them.";
    // A dialog that is cancelled gives the focus back by itself.
    if (!(await this.ui.confirm(`Delete the sheet ${info.name}?`, text, "Delete"))) return;
    this.ui.source()?.deleteSheet(info.sheet);
    this.tabOf(this.ui.source()?.sheet)?.focus();
  }

  private handleKey(event: KeyboardEvent): void {
    const tabs = [...this.list.children] as HTMLElement[];
    const focused = tabs.indexOf(event.target as HTMLElement);
    const info = infoOf(event, this.ui);
    const steps: Record<string, number> = { ArrowLeft: focused - 1, ArrowRight: focused + 1, Home: 0, End: tabs.length - 1 };
    const next = steps[event.key];
    if (next !== undefined) {
      const tab = tabs[(next + tabs.length) % tabs.length];
      tab?.focus();
      tab?.click();
    } else if (!this.canEdit) return;
    else if (event.key === "F2") this.startRename(info);
    else if (event.key === "Delete" && tabs.length > 1 && info) void this.deleteSheet(info);
    else if (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) this.openMenu(info, event.target as HTMLElement);
    else return;
    event.preventDefault();
  }
}

function infoOf(event: Event, ui: TabsUi): SheetInfo | undefined {
  const tab = (event.target as Element).closest<HTMLElement>("[data-sheet]");
  return ui.source()?.sheets.find(({ sheet }) => String(sheet) === tab?.dataset["sheet"]);
}
