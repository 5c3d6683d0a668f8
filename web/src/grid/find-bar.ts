import { formatNumber } from "./cell-text";
import type { Controller } from "./controller";
import { make } from "./dom";
import { isComposing } from "./keys";
import { marksOfFound, nextFound, type FoundCells } from "./find";

const TYPING_MS = 250;

export interface FindUi {
  /** Starts a search. `showFound` gets what it finds. */
  search(text: string): void;
  focusGrid(): void;
}

/** Finds texts: Enter goes to the next cell, Shift+Enter to the previous one, Escape closes. */
export class FindBar {
  readonly #input = make("input", "", { type: "search", "aria-label": "Find in cells", placeholder: "Find", spellcheck: "false", enterkeyhint: "search", maxlength: "4000" });
  readonly #count = make("span", "find-count", { role: "status" });
  readonly element = make("div", "find", { role: "search" }, this.#input, this.#count);
  #searched = "";
  #timer = 0;
  #isMoving = false;

  constructor(
    private readonly controller: Controller,
    private readonly ui: FindUi,
  ) {
    this.element.hidden = true;
    this.#addButton("‹", "Previous (Shift+Enter)", () => this.#move(-1));
    this.#addButton("›", "Next (Enter)", () => this.#move(1));
    this.#addButton("×", "Close (Escape)", () => this.#close());
    this.#input.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = window.setTimeout(() => this.#search(), TYPING_MS);
    });
    this.element.addEventListener("keydown", (event) => {
      if (isComposing(event)) return;
      if (event.key === "Escape") this.#close();
      else if (event.key === "Enter" && event.target === this.#input) this.#move(event.shiftKey ? -1 : 1);
      else if (event.key.toLowerCase() === "f" && (event.ctrlKey || event.metaKey)) this.#input.select();
      else return;
      event.preventDefault();
    });
  }

  open(): void {
    this.element.hidden = false;
    this.#input.focus();
    this.#input.select();
    if (this.#input.value !== "") this.#search();
  }

  showFound({ cells, count, staleCount = 0, isPartial }: FoundCells): void {
    const marks = marksOfFound(cells);
    this.controller.marks.set("found", marks);
    const total = formatNumber(Math.max(count ?? 0, cells.length));
    const part = (isPartial ? " so far" : "") + (staleCount > 0 ? `, ${formatNumber(staleCount)} stale*` : "");
    this.#count.textContent = this.#searched === "" ? "" : cells.length === 0 ? `Not found${part}` : `${total} found${part}`;
    if (this.#isMoving && marks.length > 0) {
      this.#isMoving = false;
      this.#goToNext(1);
    }
    this.controller.redraw();
  }

  #addButton(text: string, label: string, run: () => void): void {
    const button = make("button", "", { type: "button", "aria-label": label, title: label }, text);
    button.addEventListener("click", run);
    this.element.append(button);
  }

  #search(): void {
    clearTimeout(this.#timer);
    this.#searched = this.#input.value;
    this.#count.textContent = "";
    this.controller.marks.set("found", []);
    if (this.#searched !== "") this.ui.search(this.#searched);
    this.controller.redraw();
  }

  #move(step: 1 | -1): void {
    // Enter before the search has started, or before its first results.
    if (this.#searched !== this.#input.value) {
      this.#isMoving = true;
      this.#search();
    } else this.#goToNext(step);
  }

  #goToNext(step: 1 | -1): void {
    const { controller } = this;
    const { source, selection } = controller;
    const marks = controller.marks.get("found");
    if (!source || marks.length === 0) return;
    const index = nextFound(marks, { sheet: source.sheet, ...selection.active }, step);
    const mark = marks[index]!;
    if (mark.sheet !== source.sheet) source.selectSheet(mark.sheet);
    const { firstRow, rowCount, firstColumn, columnCount } = mark;
    controller.goTo({ firstRow, rowCount, firstColumn, columnCount });
    this.#count.textContent = `${formatNumber(index + 1)} of ${formatNumber(marks.length)}`;
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.element.hidden = true;
    this.#searched = "";
    this.controller.marks.set("found", []);
    this.controller.redraw();
    this.ui.focusGrid();
  }
}
