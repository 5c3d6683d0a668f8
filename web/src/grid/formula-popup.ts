import { make, moveTo, setAttribute } from "./dom";
import type { CompletionItem } from "./formula-completion";
import { argumentIndex, argumentTexts, type FunctionInfo } from "./formula-functions";

export interface Hint {
  info: FunctionInfo;
  /** Index of the argument of the call that is written. */
  argument: number;
}

/** Firefox reports lines instead of pixels. */
const LINE_HEIGHT = 26;

/**
 * The list of words and the arguments of a function, below the field.
 *
 * The focus stays in the field, which names the selected word by `aria-activedescendant`. ARIA allows the role combobox
 * for fields of one line only, so the field stays a text box with a list.
 */
export class FormulaPopup {
  readonly element = make("div", "formula-popup");
  readonly #hint = make("div", "formula-hint", { id: "formula-hint" });
  readonly #list = make("div", "formula-list", { id: "formula-list", role: "listbox", "aria-label": "Suggestions" });
  #items: readonly CompletionItem[] = [];
  #hintKey = "";
  #field: HTMLTextAreaElement | null = null;

  constructor(private readonly onPick: (index: number) => void) {
    this.element.hidden = true;
    this.element.append(this.#hint, this.#list);
    // A press would take the focus from the field.
    this.element.addEventListener("mousedown", (event) => event.preventDefault());
    // A region that scrolls by itself would have to take the focus.
    this.#list.addEventListener("wheel", (event) => (this.#list.scrollTop += event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_HEIGHT : 1)), { passive: true });
    this.#list.addEventListener("click", (event) => {
      const index = [...this.#list.children].indexOf((event.target as Element).closest("[role=option]")!);
      if (index >= 0) this.onPick(index);
    });
  }

  draw(field: HTMLTextAreaElement | null, hint: Hint | null, items: readonly CompletionItem[], selected: number): void {
    this.element.hidden = !field || (!hint && items.length === 0);
    if (this.#field && this.#field !== field) disconnect(this.#field);
    this.#field = field;
    if (!field) return;
    this.#drawHint(hint);
    this.#drawList(items, selected);
    connect(field, items.length > 0, selected, hint !== null);
    if (!this.element.hidden) this.#place(field);
  }

  #drawHint(hint: Hint | null): void {
    this.#hint.hidden = !hint;
    const key = hint ? `${hint.info.name} ${hint.argument}` : "";
    if (!hint || key === this.#hintKey) return;
    this.#hintKey = key;
    const { info } = hint;
    const current = argumentIndex(info, hint.argument);
    const parts = argumentTexts(info).flatMap((text, index) => {
      const part = index === current ? make("b", "", {}, text) : text;
      return index === 0 ? [part] : [", ", part];
    });
    this.#hint.replaceChildren(make("div", "formula-call", {}, `${info.name}(`, ...parts, ")"), make("div", "formula-meaning", {}, info.meaning));
  }

  #drawList(items: readonly CompletionItem[], selected: number): void {
    this.#list.hidden = items.length === 0;
    if (JSON.stringify(items) !== JSON.stringify(this.#items)) {
      this.#items = items;
      this.#list.replaceChildren(...items.map(optionOf));
      this.#list.scrollTop = 0;
    }
    [...this.#list.children].forEach((option, index) => setAttribute(option as HTMLElement, "aria-selected", String(index === selected)));
    this.#list.children[selected]?.scrollIntoView({ block: "nearest" });
  }

  /** Puts the popup below the field, or above it where there is no room. */
  #place(field: HTMLTextAreaElement): void {
    const host = this.element.offsetParent?.getBoundingClientRect();
    if (!host) return;
    const box = field.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = this.element;
    const below = box.bottom - host.top + 2;
    const above = box.top - host.top - offsetHeight - 2;
    const y = below + offsetHeight > host.height && above >= 0 ? above : below;
    moveTo(this.element, Math.max(0, Math.min(box.left - host.left, host.width - offsetWidth)), y);
  }
}

function optionOf({ label, detail }: CompletionItem, index: number): HTMLElement {
  return make("div", "formula-option", { id: `formula-option-${index}`, role: "option" }, make("span", "", {}, label), make("span", "formula-meaning", {}, detail));
}

/** Tells assistive technology which word is selected, and where the arguments are described. */
function connect(field: HTMLTextAreaElement, isOpen: boolean, selected: number, hasHint: boolean): void {
  const isSelected = isOpen && selected >= 0;
  set(field, "aria-autocomplete", "list");
  set(field, "aria-haspopup", "listbox");
  set(field, "aria-controls", isOpen ? "formula-list" : null);
  set(field, "aria-activedescendant", isSelected ? `formula-option-${selected}` : null);
  const others = (field.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => id !== "" && id !== "formula-hint");
  set(field, "aria-describedby", [...others, ...(hasHint ? ["formula-hint"] : [])].join(" ") || null);
}

function disconnect(field: HTMLTextAreaElement): void {
  connect(field, false, -1, false);
  for (const name of ["aria-autocomplete", "aria-haspopup"]) field.removeAttribute(name);
}

function set(element: HTMLElement, name: string, value: string | null): void {
  if (value === null) element.removeAttribute(name);
  else setAttribute(element, name, value);
}
