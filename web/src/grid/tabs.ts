import type { SheetInfo, SheetSource } from "../data/types";
import { make, setAttribute, setText } from "./dom";
import type { TabActions } from "./tab-actions";

export interface TabsUi {
  source(): SheetSource | null;
  show(sheet: number): void;
  /** Calls the function once the actions are loaded. */
  use(run: (actions: TabActions) => void): void;
}

/** One tab per sheet, with the keys of the tab pattern of ARIA. Editors add, rename and delete sheets. */
export class SheetTabs {
  readonly #list = make("div", "tabs", { role: "tablist", "aria-label": "Sheets" });
  readonly #add = make("button", "", { type: "button", "aria-label": "Add a sheet", title: "Add a sheet" }, "+");
  readonly #actions = make("button", "", { type: "button", "aria-label": "Sheet actions", "aria-haspopup": "menu", title: "Rename or delete the sheet" }, "⋮");
  readonly element = make("div", "tab-bar", {}, this.#list, this.#add, this.#actions);
  #canEdit = false;
  /** Name of a sheet that was added and is shown once the source has it. */
  #awaited: string | null = null;

  constructor(private readonly ui: TabsUi) {
    const list = this.#list;
    list.addEventListener("click", (event) => this.#select(infoOf(event, ui)));
    list.addEventListener("dblclick", (event) => this.#rename(infoOf(event, ui)));
    list.addEventListener("keydown", (event) => this.#handleKey(event));
    list.addEventListener("contextmenu", (event) => {
      const info = infoOf(event, ui);
      if (!info || !this.#canEdit) return;
      event.preventDefault();
      this.#select(info);
      this.#openMenu(info, event.target as HTMLElement);
    });
    this.#add.addEventListener("click", () => this.#addSheet());
    this.#actions.addEventListener("click", () => this.#openMenu(this.#shown(), this.#actions));
  }

  draw(source: SheetSource, canEdit: boolean): void {
    this.#canEdit = canEdit;
    this.#add.hidden = this.#actions.hidden = !canEdit;
    const tabs = [...this.#list.children] as HTMLElement[];
    while (tabs.length > source.sheets.length) tabs.pop()!.remove();
    source.sheets.forEach((info, index) => {
      const tab = tabs[index] ?? this.#list.appendChild(make("button", "", { role: "tab", type: "button" }));
      const isSelected = info.sheet === source.sheet;
      setText(tab, info.name);
      setAttribute(tab, "data-sheet", String(info.sheet));
      setAttribute(tab, "aria-selected", String(isSelected));
      setAttribute(tab, "tabindex", isSelected ? "0" : "-1");
    });
    const added = source.sheets.find(({ name }) => name === this.#awaited);
    if (!added) return;
    this.#awaited = null;
    this.#select(added);
    tabOf(this.#list, added.sheet)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  #shown(): SheetInfo | undefined {
    const source = this.ui.source();
    return source?.sheets.find(({ sheet }) => sheet === source.sheet);
  }

  #openMenu(info: SheetInfo | undefined, at: HTMLElement): void {
    if (info) this.ui.use((actions) => actions.openMenu(info, at));
  }

  #rename(info: SheetInfo | undefined): void {
    if (info && this.#canEdit) this.ui.use((actions) => actions.startRename(info));
  }

  #select(info: SheetInfo | undefined): void {
    const source = this.ui.source();
    if (info && source && info.sheet !== source.sheet) this.ui.show(info.sheet);
  }

  #addSheet(): void {
    this.ui.use((actions) => (this.#awaited = actions.addSheet()));
  }

  #handleKey(event: KeyboardEvent): void {
    const tabs = [...this.#list.children] as HTMLElement[];
    const focused = tabs.indexOf(event.target as HTMLElement);
    const info = infoOf(event, this.ui);
    const steps: Record<string, number> = { ArrowLeft: focused - 1, ArrowRight: focused + 1, Home: 0, End: tabs.length - 1 };
    const next = steps[event.key];
    if (next !== undefined) {
      const tab = tabs[(next + tabs.length) % tabs.length];
      tab?.focus();
      tab?.click();
    } else if (!this.#canEdit) return;
    else if (event.key === "F2") this.#rename(info);
    else if (event.key === "Delete" && tabs.length > 1 && info) this.ui.use((actions) => void actions.deleteSheet(info));
    else if (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) this.#openMenu(info, event.target as HTMLElement);
    else return;
    event.preventDefault();
  }
}

function infoOf(event: Event, ui: TabsUi): SheetInfo | undefined {
  const tab = (event.target as Element).closest<HTMLElement>("[data-sheet]");
  return ui.source()?.sheets.find(({ sheet }) => String(sheet) === tab?.dataset["sheet"]);
}

export function tabOf(list: Element, sheet: number | undefined): HTMLElement | null {
  return list.querySelector<HTMLElement>(`[data-sheet="${sheet}"]`);
}
