import type { Controller } from "./controller";
import { make, moveTo } from "./dom";
import { commandOf, isComposing, type Command, type Key } from "./keys";
import { ROW_HEIGHT } from "./limits";
import { textWidth } from "./measure";
import { frozenHeight } from "./scroll";
import { columnLeft, rowTop, type View } from "./view";

const MAX_WIDTH = 600;
/** A longer text takes the whole height, and is not measured at each key. */
const MAX_MEASURED = 4_000;

/**
 * The textarea over the active cell. It has the focus all the time and is empty until the user types, so that input
 * methods, dead keys and touch keyboards write into it from the first letter on. It is never recycled or blurred by a
 * move of the selection.
 */
export class Editor {
  readonly element = make("textarea", "editor", {
    "aria-label": "Contents of the active cell",
    "aria-describedby": "help",
    autocapitalize: "off",
    autocomplete: "off",
    autocorrect: "off",
    spellcheck: "false",
    rows: "1",
    wrap: "soft",
  });
  #isTabReleased = false;
  #isRefocusing = false;
  /** An input method writes into the field. */
  isComposing = false;

  constructor(
    private readonly controller: Controller,
    private readonly run: (command: Command) => void,
    private readonly isTabLeaving: () => boolean,
  ) {
    const { element } = this;
    element.addEventListener("keydown", (event) => this.#handleKey(event));
    element.addEventListener("input", () => this.#handleInput());
    element.addEventListener("compositionstart", () => {
      this.isComposing = true;
      this.#handleInput();
    });
    element.addEventListener("compositionend", () => {
      this.isComposing = false;
      this.#handleInput();
    });
    element.addEventListener("focusout", (event) => this.#handleFocusOut(event));
  }

  focus(): void {
    this.element.focus({ preventScroll: true });
  }

  /** Touch keyboards open only while a cell is edited: taps and scrolling would open them again and again. */
  setTouchKeyboard(isShown: boolean): void {
    const inputMode = isShown ? "text" : "none";
    if (this.element.inputMode === inputMode) return;
    this.element.inputMode = inputMode;
    if (!isShown) return;
    // Browsers show the keyboard for a new focus only.
    this.#isRefocusing = true;
    this.element.blur();
    this.focus();
    this.#isRefocusing = false;
  }

  draw(view: View): void {
    const { selection, context } = view;
    const { editState } = this.controller;
    const { row, column } = editState.mode === "ready" ? selection.active : editState.cell;
    this.element.classList.toggle("open", editState.mode !== "ready");
    this.element.readOnly = !this.controller.canEdit;
    const size = this.#measure(view, column);
    this.element.style.width = `${size.width}px`;
    this.element.style.height = `${size.height}px`;
    if (this.element.value !== "" && size.height < context.height) this.#showAllLines(size, context.height);
    // Kept inside the viewport: browsers scroll a focused field into view.
    const x = clamp(columnLeft(column, view) - 1, 0, context.width - size.width);
    const start = row < context.frozenRows ? 0 : frozenHeight(context);
    const end = frozenHeight(context) + context.height - size.height;
    // In another sheet than its own, where it hides the least.
    const y = this.controller.visit.isAway ? Math.max(start, end) : clamp(rowTop(row, view) - 1, start, end);
    moveTo(this.element, view.headerWidth + x, ROW_HEIGHT + y);
  }

  /** Words that do not fit at the end of a line make more lines than measured. A scrollbar would make the lines shorter still. */
  #showAllLines(size: { height: number }, maxHeight: number): void {
    this.element.style.overflowY = "hidden";
    size.height = Math.min(Math.max(size.height, this.element.scrollHeight + 4), maxHeight);
    this.element.style.height = `${size.height}px`;
    if (size.height >= maxHeight) this.element.style.overflowY = "auto";
  }

  /** Returns the size of the editor: the cell, or more if the text needs it. */
  #measure(view: View, column: number): { width: number; height: number } {
    const cellWidth = view.context.columns.sizeOf(column) + 1;
    const { value } = this.element;
    if (value === "") return { width: Math.min(cellWidth, view.context.width), height: ROW_HEIGHT + 1 };
    const maxWidth = Math.min(view.context.width, MAX_WIDTH);
    if (value.length > MAX_MEASURED) return { width: maxWidth, height: view.context.height };
    const widths = value.split("\n").map((line) => textWidth(line, this.element) + 24);
    const width = Math.min(Math.max(cellWidth, ...widths), maxWidth);
    const lineCount = widths.reduce((sum, needed) => sum + Math.ceil(needed / width), 0);
    return { width, height: Math.min(7 + lineCount * 18, view.context.height) };
  }

  #handleKey(event: KeyboardEvent): void {
    const key: Key = {
      key: event.key,
      ctrl: event.ctrlKey || event.metaKey,
      shift: event.shiftKey,
      alt: event.altKey,
      isComposing: isComposing(event) || this.isComposing,
    };
    const { controller } = this;
    // Ctrl+Minus on everything zooms: it would delete all rows.
    const whole = controller.isEverythingSelected ? null : controller.whole;
    const command = commandOf(key, controller.editState.mode, this.#isTabReleased || this.isTabLeaving(), whole);
    if (!isModifier(event.key)) this.#isTabReleased = command?.kind === "releaseTab";
    if (command?.kind === "leave") return;
    // A read-only text has no input events.
    if (!command && event.key.length === 1 && !key.ctrl && !key.alt && !this.controller.canEdit) this.controller.refusesEdit();
    if (!command) return;
    event.preventDefault();
    this.run(command);
  }

  #handleInput(): void {
    const { controller, element } = this;
    if (controller.refusesEdit()) {
      element.value = "";
      return;
    }
    const hasText = element.value !== "" || this.isComposing;
    if (controller.editState.mode === "ready" && hasText) controller.edit(controller.editStart("type"));
    else controller.redraw();
  }

  #handleFocusOut(event: FocusEvent): void {
    // The text stays open if the window loses the focus, and continues in the formula bar.
    const isContinued = event.relatedTarget instanceof Element && event.relatedTarget.matches(".formula");
    if (this.#isRefocusing || isContinued || !document.hasFocus() || this.controller.editState.mode === "ready") return;
    this.controller.edit({ kind: "commit", text: this.element.value, advance: null });
  }
}

function clamp(value: number, min: number, max: number): number {
  return Math.max(min, Math.min(value, Math.max(min, max)));
}

function isModifier(key: string): boolean {
  return key === "Shift" || key === "Control" || key === "Alt" || key === "Meta";
}
